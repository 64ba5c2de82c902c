MORE=more
more() { echo $MORE; }
