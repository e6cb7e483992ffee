import { resolve } from 'node:path'
import type { Command } from 'commander'
import { ConfigError } from '../../core/config/read-config.ts'
import { commandNamesOf } from '../command-line/command-names.ts'
import { readableConfig } from '../location/store-location.ts'

/** For each command, the index of the argument that is the data directory. */
const argumentOf: Readonly<Record<string, number>> = {
  verify: 0,
  compact: 0,
  audit: 0,
}

/**
 * Rejects a command on the data directory of a server that stores its documents in a database, because such a
 * directory is empty or outdated.
 * @throws ConfigError
 */
export function requireEmbeddedStore(command: Command): void {
  const names = commandNamesOf(command)
  const config = readableConfig(command.opts<{ config?: string }>().config)
  if (config?.engine !== 'postgres' || !isAbout(config.dataDir, command, names[0] ?? '')) return
  throw new ConfigError(
    `weft ${names.join(' ')} is for the embedded store, and this server keeps its documents in PostgreSQL: use the tools of the database, such as pg_amcheck`,
  )
}

function isAbout(data: string, command: Command, name: string): boolean {
  const at = argumentOf[name]
  if (at !== undefined) return resolve(command.args[at] ?? '') === data
  const { dataDir: given, url } = command.opts<{ dataDir?: string; url?: string }>()
  if (name === 'doc') return url === undefined && given !== undefined && resolve(given) === data
  return name === 'import' && resolve(given ?? data) === data
}
