// A name that no other use of it gets, for objects that exist only so that their initialiser runs.
#pragma once

#define ANESI_JOIN_NAMES(first, second) first##second
#define ANESI_NUMBERED_NAME(prefix, number) ANESI_JOIN_NAMES(prefix, number)
#define ANESI_UNIQUE_NAME(prefix) ANESI_NUMBERED_NAME(prefix, __COUNTER__)
