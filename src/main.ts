#!/usr/bin/env node
import { runCommand } from './cli/exit.ts'
import { createProgram } from './cli/program.ts'

await runCommand(createProgram(), process.argv)
