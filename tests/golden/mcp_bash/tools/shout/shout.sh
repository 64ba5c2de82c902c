#!/bin/sh
echo "LOUD"
