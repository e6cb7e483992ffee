import { Command, InvalidArgumentError } from 'commander'
import type { OnlineServer } from '../capabilities/transfer/documents/rest-client.ts'
import { isLoopbackHost } from '../core/config/loopback-host.ts'
import { ConfigError } from '../core/config/read-config.ts'
import { printResult, showProgress } from './command-line/command-io.ts'
import type { ScenarioResult } from './loadtest/main.ts'
import { type LocationFlags, onlineServerOf } from './location/location.ts'

interface Flags extends LocationFlags {
  readonly seconds: number
  readonly allowRemote?: true
  readonly json?: true
}

export function benchCommand(): Command {
  return new Command('bench')
    .description('Measure the performance of a server on this machine: a new one, or a running one (--url).')
    .option('--seconds <seconds>', 'Approximate duration.', checkedSeconds, 30)
    .option('--url <url>', 'URL of a running server; its limits apply (default: a new server).')
    .option('--data-dir <directory>', 'Data directory of that server; its credentials are used.')
    .option('--api-key <key>', 'API key (default: WEFT_API_KEY, else that of the data directory).')
    .option('--allow-remote', 'The server of --url may be on another machine.')
    .option('--json', 'Print JSON.')
    .action(async (flags: Flags) => {
      const server = flags.url === undefined ? null : await allowed(flags)
      const { headlineOf, runScenarios } = await import('./loadtest/main.ts')
      const progress = showProgress('bench', flags.json ? 'json' : 'text')
      const measured = await runScenarios(server, flags.seconds, progress.at).finally(progress.end)
      if (flags.json) return printResult(JSON.stringify(measured))
      printResult(`${headlineOf(measured)}\n`)
      for (const line of tableOf(measured)) printResult(line)
    })
}

/**
 * Returns the server to measure; null to start one. A remote server requires `--allow-remote`, because load
 * can be an attack.
 * @throws ConfigError
 */
async function allowed(flags: Flags): Promise<OnlineServer | null> {
  const server = await onlineServerOf(flags)
  if (server === null || flags.allowRemote) return server
  if (isLoopbackHost(new URL(server.url).hostname.replace(/^\[|\]$/g, ''))) return server
  throw new ConfigError(`${server.url} is not on this machine, and the benchmark loads it heavily`, {
    hint: 'measure it anyway: --allow-remote',
  })
}

function tableOf({ scenarios }: ScenarioResult): readonly string[] {
  const rows = scenarios.flatMap(({ name, figures }) => [
    name,
    ...figures.map(({ label, value, unit }) => `  ${label.padEnd(28)} ${shown(value).padStart(10)} ${unit}`),
  ])
  return rows
}

const shown = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2)

function checkedSeconds(text: string): number {
  const seconds = Number(text)
  if (!/^\d+$/.test(text) || seconds < 1 || seconds > 3600)
    throw new InvalidArgumentError('Expected a whole number from 1 to 3600.')
  return seconds
}
