p_x() { :; }
export -f p_x
