#!/bin/sh
echo "[\"weather\"]"
