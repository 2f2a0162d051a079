#!python
# Runs aw, which is beside this file, so that `uvx aw-debate` works.
import os
import sys

program = os.path.join(os.path.dirname(os.path.realpath(__file__)), "aw")
os.execv(program, [program, *sys.argv[1:]])
