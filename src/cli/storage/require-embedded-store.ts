import { resolve } from 'node:path'
import type { Command } from 'commander'
import { ConfigError } from '../../config/read-config.ts'
import type { Config } from '../../config.ts'
import { configOf } from '../command-line/command-io.ts'
import { commandNamesOf } from '../command-line/command-names.ts'

/** Index of the argument of a command that is the data directory. */
const argumentOf: Readonly<Record<string, number>> = {
  verify: 0,
  backup: 0,
  restore: 1,
  compact: 0,
  audit: 0,
}
/**
 * Commands, with their subcommands, that take the directory by `--data-dir`, else the configured store. `doc` is not
 * one: it also works on a database.
 */
const byOption: readonly string[] = ['import']
/** Subcommands of these that also work on a database. */
const others: readonly string[] = ['weft']

/**
 * Rejects commands on the data directory of a server that stores its documents elsewhere: such a directory is empty
 * or outdated.
 * @throws ConfigError
 */
export function requireEmbeddedStore(command: Command): void {
  const names = commandNamesOf(command)
  const config = configured(command)
  if (config?.engine !== 'postgres' || !isAbout(config.dataDir, command, names)) return
  throw new ConfigError(
    `weft ${names.join(' ')} is for the embedded store, and this server keeps its documents in PostgreSQL: use the tools of the database, such as pg_dump`,
  )
}

function isAbout(data: string, command: Command, [name = '', own]: readonly string[]): boolean {
  const at = argumentOf[name]
  if (at !== undefined) return resolve(command.args[at] ?? '') === data
  const { dataDir: given, url } = command.opts<{ dataDir?: string; url?: string }>()
  if (name === 'doc') return url === undefined && given !== undefined && resolve(given) === data
  return byOption.includes(name) && !others.includes(own ?? '') && resolve(given ?? data) === data
}

/** Null if the configuration cannot be read: commands that need it report the error themselves. */
function configured(command: Command): Config | null {
  const { config } = command.opts<{ config?: string }>()
  try {
    return configOf({ config }).config
  } catch {
    return null
  }
}
