#!/usr/bin/env node
import { Command } from 'commander'
import { auditCommand } from './cli/audit.ts'
import { backupCommand } from './cli/backup.ts'
import { benchCommand } from './cli/bench.ts'
import { compactCommand } from './cli/compact.ts'
import { completionCommand } from './cli/completion.ts'
import { configCommand } from './cli/config.ts'
import { consoleCommand } from './cli/console.ts'
import { docCommand } from './cli/doc.ts'
import { doctorCommand } from './cli/doctor.ts'
import { refuseWithoutStore } from './cli/embedded.ts'
import { runCommand } from './cli/exit.ts'
import { exportCommand } from './cli/export.ts'
import { importCommand } from './cli/import.ts'
import { initCommand } from './cli/init.ts'
import { restoreCommand } from './cli/restore.ts'
import { serveCommand } from './cli/serve.ts'
import { tokenCommand } from './cli/token.ts'
import { upgradeCommand } from './cli/upgrade.ts'
import { verifyCommand } from './cli/verify.ts'
import { readVersion } from './config/version.ts'

const examples = `
Examples:
  weft                                          serve, with data in ./data
  weft init && weft doctor                      what is missing to serve, and what helps
  weft doc get acme/notes/main --format text    a document of a stopped server
  weft doc ls acme --url http://localhost:8787  documents of a server that serves
  weft console --open                           look around in the browser
  weft bench                                    what this machine can do
  weft backup ./data weft.backup                all of it, in one file

weft help <command> tells more. Exit codes: 0 done, 1 not all is well, 2 something to put right; --json for machines.`

const program: Command = new Command('weft')
  .description('Self-hosted realtime engine for Yjs documents')
  .usage('[command] [options]')
  .version(readVersion())
  .commandsGroup('Serve (what weft alone does):')
  .addCommand(serveCommand())
  .addCommand(initCommand())
  .addCommand(configCommand())
  .addCommand(doctorCommand())
  .addCommand(tokenCommand())
  .addCommand(consoleCommand())
  .commandsGroup('Documents:')
  .addCommand(docCommand())
  .addCommand(importCommand())
  .addCommand(exportCommand())
  .commandsGroup('Stored data:')
  .addCommand(backupCommand())
  .addCommand(restoreCommand())
  .addCommand(verifyCommand())
  .addCommand(compactCommand())
  .addCommand(upgradeCommand())
  .addCommand(auditCommand())
  .commandsGroup('Others:')
  .addCommand(benchCommand())
  .addCommand(completionCommand(() => program))
  .addHelpCommand(
    new Command('help').argument('[command]').description('Tell more of a command.').helpGroup('Others:'),
  )
  .addHelpText('after', examples)

program.hook('preAction', (_, command) => refuseWithoutStore(command))

await runCommand(program, process.argv)
