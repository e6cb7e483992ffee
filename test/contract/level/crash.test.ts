import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { docKey, entriesOf, loadLive, oneTo, textOf, versionAt } from '../suite/sample-data.ts'
import { type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

const rounds = 6
/** Maximum of acknowledgments in a round. */
const acknowledgedMax = 600

let directory: TemporaryDirectory
let child: ChildProcessWithoutNullStreams | null = null

beforeEach(async () => {
  directory = await temporaryDirectory()
})

afterEach(async () => {
  child?.kill('SIGKILL')
  await directory.remove()
})

/**
 * Lets a process write until it has printed `acknowledgements` of them, kills it, and returns the last
 * acknowledged numbers.
 */
async function writeUntilKilled(durability: string, acknowledgements: number): Promise<Map<string, number>> {
  const script = join(import.meta.dirname, 'crash-child.ts')
  const writer = spawn(process.execPath, ['--import', 'tsx', script, directory.path, durability])
  child = writer
  let said = ''
  let errors = ''
  writer.stderr.on('data', (chunk) => {
    errors += chunk
  })
  writer.stdout.on('data', (chunk) => {
    said += chunk
    if (said.split('\n').length > acknowledgements) writer.kill('SIGKILL')
  })
  const [, signal] = await once(writer, 'close')
  expect({ signal, errors }).toEqual({ signal: 'SIGKILL', errors: '' })
  const whole = said.slice(0, said.lastIndexOf('\n')).split('\n')
  return new Map(
    whole.map((line) => line.split(' ') as [string, string]).map(([name, last]) => [name, Number(last)]),
  )
}

async function expectKept(acknowledged: ReadonlyMap<string, number>): Promise<void> {
  const engine = await openLevelEngine({ directory: directory.path })
  expect(engine.warnings).toEqual([])
  for (const [name, last] of acknowledged) {
    if (name === 'kv') continue
    const loaded = await loadLive(engine.log, docKey(name))
    expect(loaded.head).toBeGreaterThanOrEqual(last)
    expect(textOf(loaded.snapshot)).toBe(loaded.base === 0 ? null : `1 to ${loaded.base}`)
    expect(entriesOf(loaded).map(([seq, text]) => [seq, Number(text)])).toEqual(
      Array.from({ length: loaded.head - loaded.base }, (_, index) => {
        const seq = loaded.base + 1 + index
        return [seq, seq]
      }),
    )
    for (let seq = Math.max(0, loaded.base - 50); seq <= loaded.head; seq++) {
      const version = await versionAt(engine.log, docKey(name), loaded.epoch, seq, 1_000)
      if (version !== null || seq >= loaded.base) expect(version).toEqual(oneTo(seq))
    }
  }
  await expectCountKept(engine, acknowledged.get('kv') ?? 0)
  await engine.close()
}

/** Each increment was committed with a job: the number of jobs must equal the count. */
async function expectCountKept(
  { kv, queue }: Awaited<ReturnType<typeof openLevelEngine>>,
  acknowledged: number,
): Promise<void> {
  const [value = null] = await kv.get(['p'], [['count']])
  const count = Number(textOf(value) ?? 0)
  expect(count).toBeGreaterThanOrEqual(acknowledged)
  const jobs = await queue.claim('queue', count + 1, 1)
  expect(jobs).toHaveLength(count)
}

const durabilities = process.env.WEFT_TEST_LONG === '1' ? ['disk', 'process'] : ['disk']

it.each(durabilities)(
  '[DUR-4] keeps all acknowledged appends after SIGKILL, complete and in order (durability %s)',
  async (durability) => {
    for (let round = 0; round < rounds; round++) {
      const acknowledgements = 1 + Math.floor(Math.random() * acknowledgedMax)
      await expectKept(await writeUntilKilled(durability, acknowledgements))
    }
  },
)
