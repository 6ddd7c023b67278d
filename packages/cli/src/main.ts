#!/usr/bin/env node
process.stdout.write('session-persistence\n')
