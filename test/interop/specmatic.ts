import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const jar = join(import.meta.dirname, 'node_modules', 'specmatic', 'specmatic.jar')

/** Options of Java for a process that ends before the second compiler and parallel garbage collection pay off. */
const quickStart = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

export interface Verdict {
  readonly tests: number
  /** Text of each failed test. */
  readonly failures: readonly string[]
  /** The last output, in case that there are no tests at all. */
  readonly said: string
}

export interface Trial {
  readonly url: string
  readonly document: object
  /** Value of each security scheme of the document. */
  readonly credentials: Readonly<Record<string, string>>
  /** Maximum number of requests that are derived from the schema of each operation. */
  readonly variations: number
  readonly timeoutMs: number
}

/** Makes Specmatic call everything in the document, with all fitting requests and many unfitting ones. */
export async function runSpecmatic({ document, ...trial }: Trial): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), 'weft-specmatic-'))
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(document))
    const said = await finished(start(folder, trial), trial.timeoutMs)
    const report = await readFile(join(folder, 'TEST-junit-jupiter.xml'), 'utf8').catch(() => '')
    const tests = [...report.matchAll(/<testcase [\s\S]*?(?:\/>|<\/testcase>)/g)].map(([all]) => all)
    return { tests: tests.length, failures: tests.filter((each) => /<(failure|error)/.test(each)), said }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 20 })
  }
}

function start(
  folder: string,
  { url, credentials, variations }: Omit<Trial, 'document' | 'timeoutMs'>,
): ChildProcess {
  const environment = {
    ...process.env,
    ...credentials,
    SPECMATIC_GENERATIVE_TESTS: 'true',
    SPECMATIC_DISABLE_TELEMETRY: 'true',
    MAX_TEST_REQUEST_COMBINATIONS: String(variations),
  }
  const options = [...quickStart, '-Dspecmatic.disable.telemetry=true', '-jar', jar]
  const call = ['test', `--testBaseURL=${url}`, `--junitReportDir=${folder}`, 'openapi.json']
  return spawn('java', [...options, ...call], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/**
 * Returns the last output when the process has ended.
 * @throws Error if it takes too long; the process is killed then
 */
async function finished(child: ChildProcess, timeoutMs: number): Promise<string> {
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const [said] = await Promise.all([text(child.stdout as NodeJS.ReadableStream), once(child, 'exit')])
  clearTimeout(timer)
  if (child.signalCode !== null) throw new Error(`specmatic was not done after ${timeoutMs} ms`)
  return said.slice(-2000)
}
