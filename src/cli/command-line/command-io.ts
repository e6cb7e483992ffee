import { once } from 'node:events'
import { basename } from 'node:path'
import { type Command, type Help, InvalidArgumentError, Option } from 'commander'
import type { Progress } from '../../capabilities/backups/storage/storage-error.ts'
import { systemClock } from '../../core/base/clock.ts'
import {
  environmentOf,
  flagOf,
  isSecret,
  type OptionKey,
  optionKeys,
  optionOf,
} from '../../core/config/config.ts'
import { type ReadConfig, readConfig } from '../../core/config/read-config.ts'
import { defaultText } from '../../core/config/render-config.ts'
import type { ServerCredentials } from '../../core/directory/tenants/credentials-file.ts'
import { idProblem } from '../../core/model/address.ts'

const width = 30
/** Minimum progress between two lines if the output is not a terminal, as a fraction of 1. */
const lineEvery = 0.25

/**
 * Shows the progress of a command on standard error: a bar on a terminal, otherwise lines. `end` removes the
 * bar.
 * @param how `json`: shows no progress
 */
export function showProgress(
  name: string,
  how: 'text' | 'json',
): { readonly at: Progress; readonly end: () => void } {
  const { stderr } = process
  if (how === 'json') return { at: () => undefined, end: () => undefined }
  let shown = ''
  const show = (text: string, written: string): void => {
    if (text === shown) return
    shown = text
    stderr.write(written)
  }
  const bar: Progress = (step, share) => {
    const filled = Math.floor(Math.min(1, share) * width)
    const text = `${name}: ${step} [${'#'.repeat(filled)}${'-'.repeat(width - filled)}]`
    show(text, `\r\u001b[K${text}`)
  }
  const lines: Progress = (step, share) => {
    const percent = Math.floor(Math.min(1, share) / lineEvery) * lineEvery * 100
    const text = `${name}: ${step.replace(/ \d+ MB$/, '')} ${percent} %`
    show(text, `${text}\n`)
  }
  return {
    at: stderr.isTTY ? bar : lines,
    end: stderr.isTTY ? () => void stderr.write('\r\u001b[K') : () => undefined,
  }
}

/** Returns lines that contain the credentials for a backend. These lines are printed only once. */
export const credentialLines = ({
  apiKey,
  authToken,
  workspaceId,
  workspaceAuthToken,
  adminToken,
}: ServerCredentials): string => `  API key               ${apiKey}
  auth token            ${authToken}
  workspace             ${workspaceId}
  workspace auth token  ${workspaceAuthToken}${
    adminToken === undefined
      ? ''
      : `
  admin token           ${adminToken}`
  }`

/** Returns a text that is a valid id. @throws InvalidArgumentError */
export function parseIdOption(id: string): string {
  const problem = idProblem(id)
  if (problem !== null) throw new InvalidArgumentError(`It ${problem}.`)
  return id
}

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Parses a date, or an age such as `24h`. Returns the time in epoch milliseconds.
 * @throws InvalidArgumentError
 */
export function parseTimeOption(text: string): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const ms = unitsMs[unit ?? '']
  const at = ms === undefined ? Date.parse(text) : systemClock.now() - Number(count) * ms
  if (Number.isNaN(at))
    throw new InvalidArgumentError('Expected a date such as 2026-11-21T08:00Z, or 30m, 24h, 7d.')
  return at
}

/** The program as its users call it, so that a printed command can be pasted. */
export const programName = calledAs(basename(process.argv[1] ?? ''))

function calledAs(script: string): string {
  // `npm start` and `npm run weft` of a clone.
  if (script === 'start.js') return 'npm run weft --'
  // The one command that npm runs without an installation.
  return script.startsWith('weft-server') ? 'npx weft-server' : 'weft'
}

/** Default command of `weft`, for a command line that is empty or has only options. */
const usual = 'serve'
/** Options of the program `weft` itself. */
const own: readonly string[] = ['-h', '--help', '-V', '--version']

/**
 * Inserts the default command if the command line is empty or starts with an option. Any other first word is
 * a command, so that a misspelled command is not treated as an argument of the default command.
 */
export function withCommand(argv: readonly string[]): readonly string[] {
  const [node = '', script = '', first, ...rest] = argv
  if (first === undefined) return [node, script, usual]
  return first.startsWith('-') && !own.includes(first) ? [node, script, usual, first, ...rest] : argv
}

/** Returns the names of a command and of its parent commands, without the name of the program. */
export function commandNamesOf(command: Command): readonly string[] {
  const { parent } = command
  return parent === null ? [] : [...commandNamesOf(parent), command.name()]
}

/**
 * Adds `--config`, `--json` and the flags of all options to a command. `--help` leaves the flags out, so that it fits on
 * a screen; `--help-options` lists them.
 */
export function withConfigFlags(command: Command): Command {
  command.option('--config <file>', 'Configuration file (default: WEFT_CONFIG, else weft.config.json).')
  command.option('--json', 'Print JSON.')
  command.option('--help-options', 'List the options of the configuration, and the variables of secrets.')
  for (const key of optionKeys) {
    const flag = flagOf(key)
    if (flag !== null) command.addOption(new Option(`${flag} <value>`).hideHelp())
  }
  return command.on('option:help-options', () => {
    printResult(optionsHelp(command.createHelp()))
    command.error('', { code: optionsShown })
  })
}

/** Code of the error that ends a command after `--help-options`, because commander has errors for this purpose. */
export const optionsShown = 'weft.optionsShown'

/** Returns the help for the options of the configuration, and for the secrets, which have no flags. */
function optionsHelp(help: Help): string {
  const rows = (keys: readonly OptionKey[], nameOf: (key: OptionKey) => string): readonly string[] => {
    const width = Math.max(...keys.map((key) => nameOf(key).length))
    return keys.map((key) => help.formatItem(nameOf(key), width, describe(key), help))
  }
  const secrets = optionKeys.filter(isSecret)
  return [
    'Configuration:',
    ...rows(
      optionKeys.filter((key) => !isSecret(key)),
      (key) => `${flagOf(key)} <value>`,
    ),
    '',
    'Secrets (variables only; NAME_FILE may name a file with the value):',
    ...rows(secrets, environmentOf),
  ].join('\n')
}

const describe = (key: OptionKey): string =>
  `${optionOf(key).description} (${defaultOf(key)}${isSecret(key) ? '' : `; ${environmentOf(key)}`})`

const defaultOf = (key: OptionKey): string => `default: ${defaultText(key).replaceAll('`', '')}`

/**
 * Reads the configuration from the flags of a command, the environment of this process, and the file.
 * @param unknown whether an unknown option of the file is an error
 * @throws ConfigError
 */
export function configOf(
  flags: Readonly<Record<string, unknown>>,
  unknown: 'refuse' | 'ignore' = 'refuse',
): ReadConfig {
  const texts = Object.entries(flags).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  const { config, ...others } = Object.fromEntries(texts)
  const file = config ?? process.env.WEFT_CONFIG ?? null
  return readConfig({ flags: others, environment: process.env, file, unknown })
}

export const printResult = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

/**
 * Prints text of any length. Unlike `print`, this function waits until the reader of the output is ready for
 * more.
 */
export async function printWithBackpressure(text: string): Promise<void> {
  const { stdout } = process
  if (stdout.errored !== null || stdout.write(`${text}\n`)) return
  // Ignores the error of a closed reader, which does not end the command; see `runCommand`.
  await once(stdout, 'drain').catch(() => undefined)
}

/**
 * Prints one line per item as soon as the item arrives. If there are no items, prints the sentence `none` to
 * standard error, unless the output is JSON.
 * @param line formats an item; null for a line of JSON
 */
export async function printRows<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  { line, none }: { readonly line: ((item: Item) => string) | null; readonly none: string },
): Promise<void> {
  let count = 0
  for await (const item of items) {
    await printWithBackpressure(line === null ? JSON.stringify(item) : line(item))
    count += 1
  }
  if (count === 0 && line !== null) process.stderr.write(`${none}\n`)
}
