resource_live() { echo now; mcpc_updated rich://live; }
resource_item() { echo "$1"; }
