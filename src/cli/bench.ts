import { writeFile } from 'node:fs/promises'
import { Command, InvalidArgumentError } from 'commander'
import { isLoopbackHost } from '../config/loopback.ts'
import { ConfigError } from '../config/read.ts'
import { messageOf } from '../errors.ts'
import { StorageError } from '../storage/problem.ts'
import type { ServingServer } from '../transfer/serving.ts'
import type { Measured } from './bench/run.ts'
import { type PlaceFlags, serverOf } from './doc-place.ts'
import { print } from './options.ts'
import { showProgress } from './progress.ts'

interface Flags extends PlaceFlags {
  readonly seconds: number
  readonly svg: string | false
  readonly yesItIsMine?: true
  readonly json?: true
}

/** `weft bench`. */
export function benchCommand(): Command {
  return new Command('bench')
    .description('Measure what a server does on this machine: one of its own, or one that serves (--url).')
    .option('--seconds <seconds>', 'About how long it takes.', checkedSeconds, 30)
    .option('--svg <file>', 'Where the chart goes.', 'weft-bench.svg')
    .option('--no-svg', 'Make no chart.')
    .option('--url <url>', 'The server that serves, instead of one of its own; its limits hold.')
    .option('--data <directory>', 'Data directory of that server; its credentials are used.')
    .option('--api-key <key>', 'API key, instead of that of the data directory.')
    .option('--yes-it-is-mine', 'The server of --url may be on another machine.')
    .option('--json', 'Print for machines.')
    .action(async (flags: Flags) => {
      const server = flags.url === undefined ? null : await allowed(flags)
      const { measure } = await import('./bench/run.ts')
      const progress = showProgress('bench', flags.json ? 'json' : 'text')
      const measured = await measure(server, flags.seconds, progress.at).finally(progress.end)
      const { pictureOf, headline } = await import('./bench/picture.ts')
      const { svg } = flags
      print(flags.json ? JSON.stringify({ ...measured, svg: svg || null }) : `${headline(measured)}\n`)
      if (!flags.json) for (const line of tableOf(measured)) print(line)
      if (svg === false) return
      await write(svg, pictureOf(measured))
      if (!flags.json) print(`\nchart: ${svg}`)
    })
}

/** Load is what attacks are made of. @throws ConfigError */
async function allowed(flags: Flags): Promise<ServingServer | null> {
  const server = await serverOf(flags)
  if (server === null || flags.yesItIsMine) return server
  if (isLoopbackHost(new URL(server.url).hostname.replace(/^\[|\]$/g, ''))) return server
  throw new ConfigError(`${server.url} is not on this machine, and would get a lot to do`, {
    hint: 'if it is yours, and nobody minds: --yes-it-is-mine',
  })
}

function tableOf({ scenarios }: Measured): readonly string[] {
  const rows = scenarios.flatMap(({ name, figures }) => [
    name,
    ...figures.map(({ label, value, unit }) => `  ${label.padEnd(28)} ${shown(value).padStart(10)} ${unit}`),
  ])
  return rows
}

const shown = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2)

const write = (file: string, content: string): Promise<void> =>
  writeFile(file, content).catch((error: unknown) => {
    throw new StorageError(`${file} cannot be written: ${messageOf(error)}`, {
      hint: 'name another file (--svg), or --no-svg',
    })
  })

function checkedSeconds(text: string): number {
  const seconds = Number(text)
  if (!/^\d+$/.test(text) || seconds < 1 || seconds > 3600)
    throw new InvalidArgumentError('Expected a whole number from 1 to 3600.')
  return seconds
}
