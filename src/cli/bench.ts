import { writeFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { readPackageVersion } from '../core/base/package-version.ts'
import { isLoopbackHost } from '../core/config/public-url.ts'
import { ConfigError } from '../core/config/read-config.ts'
import type { ProtocolName } from './bench/client-protocol.ts'
import type { ServerSpec } from './bench/contender.ts'
import { printResult, showProgress } from './command-line/command-io.ts'
import { exitCodes } from './command-line/run-command.ts'

interface Flags {
  readonly url?: string
  readonly protocol: ProtocolName
  readonly document: string
  readonly token?: string
  readonly start?: string
  readonly compare?: string
  readonly compareProtocol: ProtocolName
  readonly compareDocument: string
  readonly compareToken?: string
  readonly compareStart?: string
  readonly scenario?: readonly string[]
  readonly rounds?: number
  readonly seconds: number
  readonly quick?: true
  readonly trace?: string
  readonly allowRemote?: true
  readonly json?: true
  readonly html?: string
}

const protocolOption = (flag: string, whose: string): Option =>
  new Option(`${flag} <name>`, `Protocol of ${whose}.`)
    .choices(['y-websocket', 'hocuspocus'])
    .default('y-websocket')

const documentText = 'Name of a document there, with {name} for the name that the benchmark chooses.'

export function benchCommand(): Command {
  return new Command('bench')
    .description(
      'Measure a server of any project that speaks y-websocket or Hocuspocus (default: a new Weft).',
    )
    .option('--url <url>', 'Websocket URL of the server, as clients use it.')
    .addOption(protocolOption('--protocol', 'the server'))
    .option('--document <name>', documentText, '{name}')
    .option('--token <token>', 'Token of the clients.')
    .option(
      '--start <command>',
      'Command that starts the server, for CPU time, memory and loss; {port} and {data} are a free port and an empty directory.',
    )
    .option('--compare <url>', 'URL of another server, measured in turns with the first; `weft`: a new Weft.')
    .addOption(protocolOption('--compare-protocol', 'the other server'))
    .option('--compare-document <name>', documentText, '{name}')
    .option('--compare-token <token>', 'Token of the clients of the other server.')
    .option('--compare-start <command>', 'Command that starts the other server.')
    .option('--scenario <keys...>', 'Scenarios to run (default: all).')
    .option(
      '--rounds <rounds>',
      'How often each scenario runs (default: 3 with --compare, else 1).',
      wholeNumber,
    )
    .option('--seconds <seconds>', 'Duration of a measurement, after as long a warm-up.', wholeNumber, 4)
    .option('--quick', 'Small loads, which show only that everything runs.')
    .option('--trace <file>', 'Recorded session to type, from josephg/editing-traces.')
    .option('--allow-remote', 'The servers may be on other machines.')
    .option('--json', 'Print JSON.')
    .option('--html <file>', 'Also write a report with charts.')
    .action(async (flags: Flags) => {
      const bench = await import('./bench/main.ts')
      const command = [process.execPath, ...process.execArgv, process.argv[1] ?? '']
      const weft = bench.weftSpec(command, readPackageVersion())
      const servers = serversOf(flags, weft)
      const progress = showProgress('bench', flags.json ? 'json' : 'text')
      const { report, results } = await bench
        .runBenchmark({
          servers,
          scenarios: chosenOf(flags, bench.scenarios),
          scale: flags.quick
            ? { size: 'smoke', seconds: 0.5 }
            : { size: 'full', seconds: flags.seconds, trace: flags.trace },
          rounds: flags.rounds ?? (servers.length > 1 ? 3 : 1),
          onProgress: progress.at,
        })
        .finally(progress.end)
      if (flags.html !== undefined) writeFileSync(flags.html, bench.pageOf(report, results))
      for (const line of flags.json ? [JSON.stringify(report)] : bench.reportLines(report, results))
        printResult(line)
      if (results.hasFailures) process.exitCode = exitCodes.fault
    })
}

/** Returns the servers to measure. @throws ConfigError */
function serversOf(flags: Flags, weft: ServerSpec): readonly ServerSpec[] {
  const { url, start, compare, compareStart } = flags
  if (start !== undefined && url === undefined)
    throw new ConfigError('--start needs --url, the address at which the server listens')
  if (compareStart !== undefined && compare === undefined)
    throw new ConfigError('--compare-start needs --compare, the address at which the other server listens')
  const own = { url, protocol: flags.protocol, document: flags.document, token: flags.token, start }
  const other = {
    url: compare,
    protocol: flags.compareProtocol,
    document: flags.compareDocument,
    token: flags.compareToken,
    start: compareStart,
  }
  return [own, ...(compare === undefined ? [] : [other])].map((given, index, all) => {
    if (given.url === undefined || given.url === 'weft') return weft
    requireNear(given.url, flags)
    const name = hostOf(given.url)
    const isTwice = all.every((each) => each.url?.includes(name)) && all.length > 1
    return { ...given, url: given.url, name: isTwice ? `${name} (${index + 1})` : name, keeps: true }
  })
}

/** Returns the host and port of a URL, which may contain `{port}`. */
function hostOf(url: string): string {
  const host = /^wss?:\/\/([^/?#]+)/.exec(url)?.[1]
  if (host === undefined) throw new ConfigError(`invalid URL "${url}"; expected ws:// or wss:// and a host`)
  return host.replace(/:?\{port\}$/, '')
}

/**
 * A server on another machine requires `--allow-remote`, because load can be an attack.
 * @throws ConfigError
 */
function requireNear(url: string, { allowRemote }: Flags): void {
  const host = hostOf(url)
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
  if (allowRemote || isLoopbackHost(host)) return
  throw new ConfigError(`${url} is not on this machine, and the benchmark loads it heavily`, {
    hint: 'measure it anyway: --allow-remote',
  })
}

/** @throws ConfigError that lists all scenarios */
function chosenOf<Known extends { readonly key: string }>(
  { scenario: keys }: Flags,
  all: readonly Known[],
): readonly Known[] {
  const unknown = keys?.find((key) => all.every((each) => each.key !== key))
  if (unknown !== undefined)
    throw new ConfigError(`unknown scenario "${unknown}"; there are ${all.map(({ key }) => key).join(', ')}`)
  return all.filter(({ key }) => keys?.includes(key) ?? true)
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1 || value > 3600)
    throw new InvalidArgumentError('Expected a whole number from 1 to 3600.')
  return value
}
