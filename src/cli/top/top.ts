import { setTimeout as sleep } from 'node:timers/promises'
import { Command, InvalidArgumentError } from 'commander'
import { fetchAsOperator } from '../../capabilities/backups/storage/backup.ts'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import { systemClock } from '../../core/base/clock.ts'
import { errorMessage } from '../../core/base/errors.ts'
import { MalformedJsonError, readJson } from '../../core/base/json.ts'
import { escapeControls } from '../../core/base/text.ts'
import { type LiveStatus, liveStatusSchema } from '../../rest/pages/status-page.ts'
import { printResult, printWithBackpressure } from '../command-line/command-io.ts'
import { checkedUrl } from '../location/location.ts'
import { requireAdminToken, tokenFileOption } from '../location/store-location.ts'
import { cutLine, measuredValues, renderStatus, type StatusSample, sampleOf } from './render-status.ts'

const timeoutMs = 10_000

/** Reads the status of a running server. @throws StorageError with a sentence for the operator */
async function readStatus(url: string, adminToken: string): Promise<LiveStatus> {
  const [hint, signal] = ['start the server, or name its URL', AbortSignal.timeout(timeoutMs)]
  const response = await fetchAsOperator(url, '/status', adminToken, hint, signal)
  try {
    return readJson(liveStatusSchema, await response.text())
  } catch (cause) {
    if (!(cause instanceof MalformedJsonError)) throw cause
    throw new StorageError(`${url} is not a Weft server of this version: ${cause.message}`, { cause })
  }
}

interface Flags {
  readonly tokenFile?: string
  readonly interval: number
  readonly once?: true
  readonly json?: true
}

interface TopTarget {
  readonly url: string
  readonly token: string
  readonly intervalMs: number
}

export const topCommand = (): Command =>
  new Command('top')
    .description('Show the busiest documents, connections, rates and slow calls of a running server, live.')
    .argument('[url]', 'URL of the server (default: WEFT_URL, else http://localhost:8787).')
    .option(...tokenFileOption)
    .option('--interval <seconds>', 'Seconds between two measurements (default: 2).', checkedInterval, 2)
    .option('--once', 'Measure for one interval, print the result and end.')
    .option('--json', 'Print one line of JSON for each measurement.')
    .action(async (url: string | undefined, flags: Flags) => {
      const target = checkedUrl(url ?? process.env.WEFT_URL ?? 'http://localhost:8787')
      const token = await requireAdminToken(target, flags.tokenFile)
      const watch: TopTarget = { url: target, token, intervalMs: flags.interval * 1000 }
      if (flags.once) return printOnce(watch, flags.json ? 'json' : 'text')
      if (flags.json || !process.stdout.isTTY) return printLines(watch, flags.json ? 'json' : 'text')
      await showLive(watch)
    })

function checkedInterval(text: string): number {
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds >= 1 && seconds <= 3_600))
    throw new InvalidArgumentError('Expected seconds from 1 to 3600.')
  return seconds
}

const measure = async ({ url, token }: TopTarget): Promise<StatusSample> =>
  sampleOf(await readStatus(url, token))

/** Size of the output that is not a terminal. */
const plainSize = { columns: 120, rows: 60 }

const textOf = (watch: TopTarget, now: StatusSample, before: StatusSample | null): string =>
  renderStatus(watch.url, now, before, plainSize)
    .map((line) => line.trimEnd())
    .join('\n')

function jsonOf(now: StatusSample, before: StatusSample | null): string {
  const { metrics: _, ...status } = now.status
  return JSON.stringify({ ...status, ...measuredValues(now, before) })
}

async function printOnce(watch: TopTarget, how: 'text' | 'json'): Promise<void> {
  const before = await measure(watch)
  await sleep(watch.intervalMs)
  const now = await measure(watch)
  printResult(how === 'json' ? jsonOf(now, before) : textOf(watch, now, before))
}

/** Prints each measurement until a signal ends the process, or until a measurement fails. */
async function printLines(watch: TopTarget, how: 'text' | 'json'): Promise<void> {
  for (let before: StatusSample | null = null; ; ) {
    const now = await measure(watch)
    await printWithBackpressure(how === 'json' ? jsonOf(now, before) : `${textOf(watch, now, before)}\n`)
    before = now
    await sleep(watch.intervalMs)
  }
}

const screen = { enter: '\u001b[?1049h\u001b[?25l', leave: '\u001b[?25h\u001b[?1049l', home: '\u001b[H' }
/** Size of a terminal that does not report its size. */
const sizeUnknown = { columns: 80, rows: 24 }
const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const clearLine = '\u001b[K'
const clearBelow = '\u001b[J'

/**
 * Shows the measurements on the alternate screen of the terminal until the user presses `q` or Ctrl+C. If the server
 * cannot be reached, shows the problem and tries again.
 * @throws StorageError if the first measurement fails
 */
async function showLive(watch: TopTarget): Promise<void> {
  const { stdin, stdout } = process
  let now = await measure(watch)
  let before: StatusSample | null = null
  let problem: string | null = null
  const ending = new AbortController()
  const draw = (): void => {
    const columns = stdout.columns || sizeUnknown.columns
    const rows = stdout.rows || sizeUnknown.rows
    const lines = renderStatus(watch.url, now, before, { columns, rows: rows - 1 })
    const last = problem === null ? 'q: quit' : escapeControls(`${problem} (${ageOf(now)})  q: quit`)
    const footer = cutLine(last, columns - 1)
    const body = lines.map((line) => `${line}${clearLine}\n`).join('')
    stdout.write(`${screen.home}${body}${clearBelow}\u001b[${rows};1H${footer}${clearLine}`)
  }
  const end = (): void => ending.abort()
  const onKey = (key: Buffer): void => {
    if (['q', 'Q', '\u0003'].includes(key.toString())) end()
  }
  stdout.write(screen.enter)
  if (stdin.isTTY) stdin.setRawMode(true).on('data', onKey).resume()
  stdout.on('resize', draw)
  for (const signal of endingSignals) process.on(signal, end)
  try {
    while (!ending.signal.aborted) {
      draw()
      await sleep(watch.intervalMs, undefined, { signal: ending.signal }).catch(() => undefined)
      if (ending.signal.aborted) break
      try {
        const next = await measure(watch)
        ;[before, now, problem] = [now, next, null]
      } catch (error) {
        if (!(error instanceof StorageError)) throw error
        problem = errorMessage(error)
      }
    }
  } finally {
    for (const signal of endingSignals) process.off(signal, end)
    stdout.off('resize', draw)
    stdout.write(screen.leave)
    if (stdin.isTTY) stdin.setRawMode(false).off('data', onKey).pause()
  }
}

const ageOf = ({ status }: StatusSample): string =>
  `values of ${Math.max(0, Math.round((systemClock.now() - status.at) / 1000))} s ago`
