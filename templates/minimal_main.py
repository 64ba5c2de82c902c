"""What another Python runs of a self-contained file with a minimal library, which only its own interpreter starts."""

import sys

sys.stderr.write("%s starts by itself: run it without another Python\n" % sys.argv[0])
sys.exit(8)
