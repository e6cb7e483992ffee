import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { bytesOf, docKey, keepNone, updates } from '../suite/sample-data.ts'

/**
 * Writes to a data directory until it is killed. Prints a line for each acknowledgment: the name of the
 * document and the number of its last update, or `kv` and the last value.
 */
const [directory = '', durability = 'disk'] = process.argv.slice(2)
const documents = ['a', 'b', 'c']
const overlapping = 4
const compactEvery = 25
const keptMs = 20

const engine = await openLevelEngine({ directory, durability: durability === 'disk' ? 'disk' : 'process' })

const say = (name: string, last: number) => process.stdout.write(`${name} ${last}\n`)

async function writeDocument(name: string): Promise<void> {
  const { log } = engine
  const doc = docKey(name)
  const loaded = await log.load(doc)
  let head = loaded.state === 'live' ? loaded.head : 0
  if (head === 0) {
    head = (await log.append(doc, 'create', updates('1'))).last
    say(name, head)
  }
  for (;;) {
    const calls = Array.from({ length: overlapping }, () => log.append(doc, 1, updates(`${++head}`)))
    for (const call of calls) say(name, (await call).last)
    if (head % compactEvery < overlapping) await compact(name)
  }
}

async function compact(name: string): Promise<void> {
  const loaded = await engine.log.load(docKey(name))
  if (loaded.state !== 'live') throw new Error('the document has gone')
  const { epoch, base, head } = loaded
  const keepSince = head % 2 === 0 ? keepNone : Date.now() - keptMs
  await engine.log.compact(docKey(name), epoch, base, head, bytesOf(`1 to ${head}`), keepSince)
}

async function count(): Promise<void> {
  const key = ['count']
  for (;;) {
    const [before = null] = await engine.kv.get(['p'], [key])
    const next = Number(before === null ? 0 : Buffer.from(before).toString()) + 1
    const jobs = [{ queue: 'queue', id: String(next), at: 0, payload: bytesOf('') }]
    const puts = [{ key, value: bytesOf(String(next)) }]
    if (!(await engine.kv.commit(['p'], { checks: [{ key, value: before }], puts, jobs })))
      throw new Error('no commit')
    say('kv', next)
  }
}

say('kv', 0)
await Promise.all([...documents.map(writeDocument), count()])
