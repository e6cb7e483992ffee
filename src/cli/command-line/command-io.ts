import { once } from 'node:events'
import { type Command, type Help, Option } from 'commander'
import { escapeControls } from '../../core/base/text.ts'
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

/**
 * Adds `--config`, `--json` and the flags of all options to a command. The help of the command lists the
 * options last, and then the environment variables of the secrets, which have no flags.
 */
export function withConfigFlags(command: Command): Command {
  command.option('--config <file>', 'Configuration file (default: WEFT_CONFIG, else weft.config.json).')
  command.option('--json', 'Print JSON.')
  for (const key of optionKeys) {
    const flag = flagOf(key)
    if (flag === null) continue
    const shown = `${optionOf(key).description} (${defaultOf(key)}; ${environmentOf(key)})`
    command.addOption(new Option(`${flag} <value>`, shown).helpGroup('Configuration:'))
  }
  return command.addHelpText('after', ({ command: shown }) => secretsHelp(shown.createHelp()))
}

/** Returns the help text for the secrets, which have no flags. The text lists their environment variables. */
function secretsHelp(help: Help): string {
  const names = optionKeys.filter(isSecret)
  const width = Math.max(...names.map((key) => environmentOf(key).length))
  const rows = names.map((key) =>
    help.formatItem(environmentOf(key), width, `${optionOf(key).description} (${defaultOf(key)})`, help),
  )
  return ['', 'Secrets (variables only; NAME_FILE may name a file with the value):', ...rows].join('\n')
}

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

/** Formats a response as one line: its members that are not null, as JSON. */
export const lineOfMembers = (response: object): string =>
  escapeControls(
    Object.entries(response)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
      .join('  '),
  )

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
