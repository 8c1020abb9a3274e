# CMake writes _built.py.
VERSION: str
TORCH: str
