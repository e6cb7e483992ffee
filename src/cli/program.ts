import { resolve } from 'node:path'
import { Command } from 'commander'
import { readPackageVersion } from '../core/base/package-version.ts'
import { ConfigError } from '../core/config/read-config.ts'
import { checkVariables } from '../core/config/variables.ts'
import { auditCommand } from './audit.ts'
import { benchCommand } from './bench.ts'
import { callCommand } from './call.ts'
import { commandNamesOf } from './command-line/command-io.ts'
import { runCommand } from './command-line/run-command.ts'
import { configCommand } from './config.ts'
import { consoleCommand } from './console.ts'
import { docCommand } from './doc/doc.ts'
import { exportCommand } from './export.ts'
import { feedCommand } from './feed.ts'
import { importCommand } from './import.ts'
import { initCommand } from './init.ts'
import { keysCommand } from './keys.ts'
import { readableConfig } from './location/store-location.ts'
import { mcpCommand } from './mcp.ts'
import { serveCommand } from './serve.ts'
import { backupCommand } from './storage/backup.ts'
import { compactCommand } from './storage/compact.ts'
import { doctorCommand } from './storage/doctor.ts'
import { backupsCommand } from './storage/repository-commands.ts'
import { restoreCommand } from './storage/restore.ts'
import { upgradeCommand } from './storage/upgrade.ts'
import { verifyCommand } from './storage/verify.ts'
import { tokenCommand } from './token.ts'
import { topCommand } from './top/top.ts'

const examples = `
Examples:
  weft                                          start a server, with data in ./data
  weft init && weft doctor                      create a configuration and check it
  weft doc get acme/notes/main --format text    read a document of a stopped server
  weft doc ls acme --url http://localhost:8787  list documents of a running server
  weft console --open                           open the console in the browser
  weft bench                                    measure the performance of this machine
  weft backup ./data weft.backup                back up all data to one file

weft help <command> describes a command. Exit codes: 0 success, 1 problems found, 2 invalid use or configuration; --json for machines.`

/** Creates the command line with all its commands and its help. */
export function createProgram(): Command {
  return new Command('weft')
    .description('Self-hosted realtime engine for Yjs documents')
    .usage('[command] [options]')
    .version(readPackageVersion())
    .commandsGroup('Serve (`weft` without a command does this):')
    .addCommand(serveCommand())
    .addCommand(initCommand())
    .addCommand(configCommand())
    .addCommand(doctorCommand())
    .addCommand(upgradeCommand())
    .addCommand(topCommand())
    .addCommand(tokenCommand())
    .addCommand(keysCommand())
    .addCommand(consoleCommand())
    .commandsGroup('Documents:')
    .addCommand(docCommand())
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(callCommand())
    .addCommand(feedCommand())
    .addCommand(mcpCommand())
    .commandsGroup('Stored data:')
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(backupsCommand())
    .addCommand(verifyCommand())
    .addCommand(compactCommand())
    .addCommand(auditCommand())
    .commandsGroup('Others:')
    .addCommand(benchCommand())
    .addHelpCommand(
      new Command('help').argument('[command]').description('Describe a command.').helpGroup('Others:'),
    )
    .addHelpText('after', examples)
    .hook('preAction', (_, command) => {
      // `upgrade` reports unknown variables itself.
      if (commandNamesOf(command)[0] !== 'upgrade') checkVariables(process.env)
      requireEmbeddedStore(command)
    })
}

/** Commands whose first argument is the data directory. */
const onDirectory: readonly string[] = ['verify', 'compact', 'audit']

/**
 * Rejects a command on the data directory of a server that stores its documents in a database, because such a
 * directory is empty or outdated.
 * @throws ConfigError
 */
function requireEmbeddedStore(command: Command): void {
  const names = commandNamesOf(command)
  const config = readableConfig(command.opts<{ config?: string }>().config)
  if (config?.engine !== 'postgres' || !isAbout(config.dataDir, command, names[0] ?? '')) return
  throw new ConfigError(
    `weft ${names.join(' ')} is for the embedded store, and this server keeps its documents in PostgreSQL: use the tools of the database, such as pg_amcheck`,
  )
}

function isAbout(data: string, command: Command, name: string): boolean {
  if (onDirectory.includes(name)) return resolve(command.args[0] ?? '') === data
  const { dataDir: given, url } = command.opts<{ dataDir?: string; url?: string }>()
  if (name === 'doc') return url === undefined && given !== undefined && resolve(given) === data
  return name === 'import' && resolve(given ?? data) === data
}

/** Runs the command line with the arguments of this process. */
export const runCommandLine = (): Promise<void> => runCommand(createProgram(), process.argv)
