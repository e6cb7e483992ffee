#!/usr/bin/env node
import { Command } from 'commander'
import { configCommand } from './cli/config.ts'
import { runCommand } from './cli/exit.ts'
import { serveCommand } from './cli/serve.ts'
import { tokenCommand } from './cli/token.ts'
import { readVersion } from './config/version.ts'

const program = new Command('weft')
  .description('Self-hosted realtime engine for Yjs documents')
  .version(readVersion())
  .addCommand(serveCommand(), { isDefault: true })
  .addCommand(configCommand())
  .addCommand(tokenCommand())

await runCommand(program, process.argv)
