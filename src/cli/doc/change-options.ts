import type { Command } from 'commander'
import { ConfigError } from '../../core/config/read-config.ts'
import type { ChangeMeta } from '../../core/model/change-origin.ts'

/** Selects changes between two versions of an editor, as the REST API expects it. */
interface ChangeSelection {
  readonly from: string
  readonly to?: string | undefined
  readonly by?: string | undefined
  readonly meta?: ChangeMeta | undefined
}

/** Flags that select changes between two versions. */
export interface ChangeFlags {
  readonly from?: string
  readonly to?: string
  readonly by?: string
  readonly meta?: readonly string[]
}

const versionHelp = 'version or id of a saved version'

export const withVersionFlags = (command: Command): Command =>
  command
    .requiredOption('--from <version>', `Earlier ${versionHelp}.`)
    .option('--to <version>', `Later ${versionHelp} (default: the current version).`)

export const withFilterFlags = (command: Command): Command =>
  command
    .option('--by <user>', 'Only changes of this user.')
    .option('--meta <name=value...>', 'Only changes with this member of `meta`; the value is JSON, or text.')

/** @throws ConfigError */
export const selectionOf = (
  from: string,
  { to, by, meta }: Pick<ChangeFlags, 'to' | 'by' | 'meta'>,
): ChangeSelection => ({ from, to, by, meta: meta === undefined ? undefined : parseMeta(meta) })

function parseMeta(members: readonly string[]): ChangeMeta {
  return Object.fromEntries(
    members.map((member) => {
      const at = member.indexOf('=')
      if (at < 1)
        throw new ConfigError(`--meta ${JSON.stringify(member)} has no name and value`, {
          hint: 'write --meta job=summary-17',
        })
      return [member.slice(0, at), parseValue(member.slice(at + 1))]
    }),
  )
}

/** Returns the number, boolean or null that a text stands for; otherwise the text without quotes of JSON. */
function parseValue(text: string): string | number | boolean | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
    if (typeof value === 'number') return value
  } catch {
    // A text that is not JSON stands for itself.
  }
  return text
}
