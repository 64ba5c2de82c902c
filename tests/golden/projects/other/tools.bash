t_a() { echo "$MCBOX_SERVER_CONFIG"; }
t_b() { cat "${BASH_SOURCE[0]%/*}/data.txt"; }
t_c() { :; }
unused() { :; }
export -f t_a t_b t_c
