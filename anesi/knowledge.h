// What needs no machine learning: problems, the facts known of them, and asking them. Link anesi::knowledge, which is
// C++20 alone.
#pragma once

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/facts.h"
#include "anesi/core/grid_walk.h"
#include "anesi/core/interrupt.h"
#include "anesi/core/known_variables.h"
#include "anesi/core/output_tables.h"
#include "anesi/core/problem.h"
#include "anesi/core/pruner.h"
#include "anesi/core/random.h"
#include "anesi/core/reading_order.h"
#include "anesi/core/rows.h"
#include "anesi/core/score.h"
#include "anesi/core/space.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/trace.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/discover/discover.h"
#include "anesi/discover/drawing.h"
#include "anesi/search/most_probable_worlds.h"
