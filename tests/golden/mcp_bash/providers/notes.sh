#!/bin/sh
printf "notes of %s\n" "$1"
