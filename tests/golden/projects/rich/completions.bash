complete_review_file() { echo a; }
complete_item_id() { echo 1; }
