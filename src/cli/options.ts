import { once } from 'node:events'
import { type Command, Option } from 'commander'
import { type ReadConfig, readConfig } from '../config/read.ts'
import { flagOf, optionKeys, optionOf } from '../config.ts'

/** Gives a command `--config`, `--json` and the flags of all options; in its help these come last. */
export function withConfigFlags(command: Command): Command {
  command.option('--config <file>', 'Configuration file, instead of weft.config.json.')
  command.option('--json', 'Print for machines.')
  for (const key of optionKeys) {
    const flag = flagOf(key)
    if (flag === null) continue
    command.addOption(new Option(`${flag} <value>`, optionOf(key).description).helpGroup('Configuration:'))
  }
  return command
}

/** The configuration that a command's flags, this process's environment and the file make. @throws ConfigError */
export function configOf(flags: Readonly<Record<string, unknown>>): ReadConfig {
  const texts = Object.entries(flags).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  const { config, ...others } = Object.fromEntries(texts)
  const file = config ?? process.env.WEFT_CONFIG ?? null
  return readConfig({ flags: others, environment: process.env, file })
}

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

/** Like `print`, for lists of any length: waits until somebody reads on. */
export async function printSlowly(text: string): Promise<void> {
  const { stdout } = process
  if (stdout.errored !== null || stdout.write(`${text}\n`)) return
  // Who does not read on ends nothing, see `runCommand`.
  await once(stdout, 'drain').catch(() => undefined)
}

/**
 * Prints a line for each, as they come. Where there are none a sentence says so beside the output; machines see that.
 * @param line null: a line of JSON
 */
export async function printEach<Item>(
  items: AsyncIterable<Item>,
  { line, none }: { readonly line: ((item: Item) => string) | null; readonly none: string },
): Promise<void> {
  let count = 0
  for await (const item of items) {
    await printSlowly(line === null ? JSON.stringify(item) : line(item))
    count += 1
  }
  if (count === 0 && line !== null) process.stderr.write(`${none}\n`)
}

/** Names are others': what would steer a terminal or turn a line around is shown as its code. */
export const plain = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
