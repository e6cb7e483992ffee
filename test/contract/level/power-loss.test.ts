import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { cutPower } from '../../support/faults/power-loss.ts'
import { times } from '../../support/time/full-run.ts'
import { docKey, entriesOf, loadLive } from '../suite/sample-data.ts'
import { type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

const rounds = times(1, 3)
/** On a fast disk and a busy machine, few processes end between a write and its sync. */
const roundsMax = rounds + 1
const linesMax = 800

let directory: TemporaryDirectory
let child: ChildProcess | null = null

beforeEach(async () => {
  directory = await temporaryDirectory()
})

afterEach(async () => {
  child?.kill('SIGKILL')
  await directory.remove()
})

interface Said {
  /** Number of bytes of each log that are on disk in any case. */
  readonly synced: ReadonlyMap<string, number>
  readonly acknowledged: ReadonlyMap<string, number>
}

/** Lets a process write until it has printed `lines` lines, and kills it. */
async function writeUntilKilled(durability: string, lines: number): Promise<Said> {
  const script = join(import.meta.dirname, 'power-child.ts')
  const writer = spawn(process.execPath, ['--import', 'tsx', script, directory.path, durability], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child = writer
  let [said, count] = ['', 0]
  writer.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    count += chunk.filter((byte) => byte === 10).length
    if (count >= lines) writer.kill('SIGKILL')
  })
  await once(writer, 'close')
  const words = said
    .slice(0, said.lastIndexOf('\n'))
    .split('\n')
    .map((line) => line.split(' '))
  const last = (kind: string) =>
    new Map(words.filter(([first]) => first === kind).map(([, name = '', number]) => [name, Number(number)]))
  return { synced: last('synced'), acknowledged: last('ack') }
}

/** Returns the number of lost acknowledged updates. The remaining ones must be complete and in order. */
async function lostUpdates({ acknowledged }: Said): Promise<number> {
  const engine = await openLevelEngine({ directory: directory.path })
  let lost = 0
  for (const [name, last] of acknowledged) {
    const loaded = await engine.log.load(docKey(name))
    const head = loaded.state === 'live' ? loaded.head : 0
    lost += Math.max(0, last - head)
    if (head === 0) continue
    const entries = entriesOf(await loadLive(engine.log, docKey(name)))
    expect(entries.map(([seq, text]) => [seq, Number(text)])).toEqual(
      Array.from({ length: head }, (_, index) => [index + 1, index + 1]),
    )
  }
  await engine.close()
  return lost
}

it(`[DUR-5] keeps all acknowledged appends after ${rounds} power losses (seed ${seed})`, async () => {
  const random = new Random(seed)
  let [cut, acknowledged] = [0, 0]
  for (let round = 0; round < rounds || (cut === 0 && round < roundsMax); round++) {
    const said = await writeUntilKilled('disk', 1 + random.below(linesMax))
    cut += await cutPower(directory.store, said.synced, random)
    expect(await lostUpdates(said), `round ${round}, seed ${seed}`).toBe(0)
    for (const last of said.acknowledged.values()) acknowledged += last
  }
  expect(acknowledged).toBeGreaterThan(rounds)
  console.info(`${cut} bytes were cut`)
}, 600_000)

it('[DUR-5] loses acknowledged appends with durability "process", which shows that the simulated power loss works', async () => {
  const said = await writeUntilKilled('process', linesMax)
  await cutPower(directory.store, new Map(), new Random(3))
  expect(await lostUpdates(said)).toBeGreaterThan(0)
}, 60_000)
