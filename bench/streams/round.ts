import { setTimeout as pause } from 'node:timers/promises'
import * as Y from 'yjs'
import { cpuMicroseconds } from '../../src/cli/bench/cpu.ts'
import type { StreamAnswer } from '../../test/support/clients/content-stream.ts'
import { settled, until } from '../agents/editor-client.ts'
import type { Keystroke } from '../agents/keystrokes.ts'
import { Typist } from '../agents/typist.ts'
import { seededRandom } from '../support/random.ts'
import { sum } from '../support/report.ts'
import { type BenchServer, done, headers } from '../support/server.ts'
import { Arrivals, type SentPart } from './arrivals.ts'
import { countMoved, placeCarets, textOfOthers } from './carets.ts'
import { InterruptedWriter } from './interrupted-writer.ts'
import { contentFor, layoutOf } from './layout.ts'
import { machineMs } from './machine-time.ts'
import type { Observer } from './observing.ts'
import { OpenEditor } from './open-editor.ts'

export interface RoundOptions {
  readonly server: BenchServer
  readonly tokens: readonly string[]
  readonly observer: Observer
  readonly stretches: readonly (readonly Keystroke[])[]
  readonly round: number
  readonly seed: number
  /** Duration of each phase. */
  readonly seconds: number
  readonly keystrokesPerSecond: number
  readonly piecesPerSecond: number
  /** UTF-16 units that each stream writes in a second. */
  readonly unitsPerSecond: number
  readonly isCut: boolean
  /** Time in ms within which all streams of a phase start. */
  readonly startsWithinMs: number
}

/** What was measured while users typed, with or without streams. */
export interface Phase {
  /** Times in ms from each keystroke until the observer had it. */
  readonly keystrokes: readonly number[]
  /** CPU time of the server in microseconds. */
  readonly cpu: number
  readonly seconds: number
}

export interface StreamFigures {
  /** Times in ms from each piece until the observer had it. */
  readonly pieces: readonly number[]
  readonly resumed: readonly number[]
  readonly cuts: number
  readonly takeovers: number
  readonly units: number
  readonly bytes: number
  /** Updates of streams that the observer has received. */
  readonly updates: number
}

export interface Round {
  readonly without: Phase
  readonly with: Phase
  readonly streams: StreamFigures
  /** Characters that users have typed and not deleted, and those of them that the document has lost. */
  readonly typed: number
  readonly lost: number
  readonly carets: number
  readonly moved: number
  /** The first difference from the text that the streams requested; null if it is equal. */
  readonly difference: string | null
}

const organizationId = 'streams'

/** Users type into a new document: first alone, and then while as many streams write into it. */
export async function runRound(options: RoundOptions): Promise<Round> {
  const { server, tokens, observer, seed, round, seconds } = options
  const random = seededRandom(seed + round)
  const layout = layoutOf(tokens.length, seed + round)
  const documentId = `round-${round}-${seed}`
  const address = { organizationId, documentId, editorId: 'main' }
  await done(server, '/v2/crdt/add', { ...address, type: 'text', data: layout.text })
  const baseVersion = await readVersion(server, address)
  const editors = tokens.map((token) => new OpenEditor(server, `${organizationId}/${documentId}/main`, token))
  await until(() => editors.every(({ isSynced }) => isSynced), 'sync')
  await observer.open(server, `${organizationId}/${documentId}/main`, tokens[0] as string)

  const sent = new Map(editors.map(({ editor }) => [editor.clientID, [] as SentPart[]]))
  const [first] = editors as [OpenEditor]
  const carets = editors.map(({ text }) => placeCarets(text, layout, random))
  const typists = editors.map(({ editor, text }, index) => {
    const caret = Y.createRelativePositionFromTypeIndex(text, layout.typingAt[index] as number)
    const stretches = Array.from(
      { length: 2 * seconds * options.keystrokesPerSecond },
      () => options.stretches[random(options.stretches.length)],
    )
    return new Typist(
      editor,
      caret,
      stretches.flatMap((stretch) => stretch ?? []),
    )
  })

  /** All users type for some seconds. */
  const type = async (): Promise<void> => {
    const count = Math.max(1, Math.round(seconds * options.keystrokesPerSecond))
    await Promise.all(
      typists.map(async (typist) => {
        const parts = sent.get(typist.editor.clientID) as SentPart[]
        const times = Array.from({ length: count }, () => (random(1_000_000) / 1_000_000) * seconds * 1000)
        const start = performance.now()
        for (const time of times.toSorted((one, other) => one - other)) {
          await pause(Math.max(0, start + time - performance.now()))
          press(typist, parts)
        }
      }),
    )
  }
  const measured = async (work: () => Promise<unknown>): Promise<Phase> => {
    const pid = server.process.pid as number
    const [cpu, start] = [cpuMicroseconds(pid), performance.now()]
    await work()
    const used = cpuMicroseconds(pid) - cpu
    const elapsed = (performance.now() - start) / 1000
    await settled(editors)
    arrivals.add(await observer.take(first.editor))
    return { keystrokes: arrivals.keystrokes.splice(0), cpu: used, seconds: elapsed }
  }

  const writers = layout.targets.map(
    ({ edit }, index) =>
      new InterruptedWriter({
        server: { url: server.url, credentials },
        opening: {
          ...address,
          edit,
          baseVersion,
          streamId: `${documentId}-${index}`,
          userId: `agent-${index}`,
        },
        content: contentFor(index, seconds * options.unitsPerSecond, random),
        seconds,
        piecesPerSecond: options.piecesPerSecond,
        isCut: options.isCut,
        startsWithinMs: options.startsWithinMs,
        random,
      }),
  )
  const streamed = writers.map(({ pieces }) => pieces)
  const arrivals = new Arrivals(first.editor, sent, streamed)
  const without = await measured(type)
  let results: NonNullable<StreamAnswer['done']>[] = []
  const withStreams = await measured(async () => {
    const writing = Promise.all(writers.map((writer) => writer.write()))
    await type()
    results = await writing
  })

  const { editor, text } = first
  const rest = textOfOthers(text, new Set(sent.keys()))
  const expected = layout.expected(writers.map(({ content }) => content))
  const outcome: Round = {
    without,
    with: withStreams,
    streams: {
      pieces: arrivals.pieces,
      resumed: writers.flatMap(({ resumed }) => resumed),
      cuts: sum(writers.map(({ cuts }) => cuts)),
      takeovers: sum(writers.map(({ takeovers }) => takeovers)),
      units: sum(writers.map(({ content }) => content.length)),
      bytes: sum(results.map(({ bytes }) => bytes)),
      updates: arrivals.streamUpdates,
    },
    typed: sum(typists.map(({ clocks }) => clocks.length)),
    lost: sum(typists.map((typist) => lostIn(text, typist))),
    carets: sum(carets.map(({ length }) => length)),
    moved: sum(carets.map((placed) => countMoved(editor, rest, placed))),
    difference:
      differenceOf(rest.text, expected) ?? differenceOf(await readText(server, address), text.toString()),
  }
  for (const each of editors) each.close()
  return outcome
}

const credentials = {
  apiKey: headers['x-service-api-key'],
  authToken: headers['x-service-auth-token'],
}

/** Presses one key. If this inserts characters, adds them to the sent parts. */
function press(typist: Typist, parts: SentPart[]): void {
  const { store, clientID } = typist.editor
  const [before, sentAt] = [Y.getState(store, clientID), machineMs()]
  typist.type(1)
  const end = Y.getState(store, clientID)
  if (end > before) parts.push({ end, sentAt })
}

type Address = { readonly organizationId: string; readonly documentId: string; readonly editorId: string }

async function readContent(server: BenchServer, address: Address) {
  const { body } = await server.post('/v2/crdt/get', address)
  const { data } = body.result as {
    readonly data: readonly [{ readonly data: string; readonly version: string }]
  }
  return data[0]
}

const readText = async (server: BenchServer, address: Address): Promise<string> =>
  (await readContent(server, address)).data
const readVersion = async (server: BenchServer, address: Address): Promise<string> =>
  (await readContent(server, address)).version

/** Returns how many of the characters of a typist the text does not have, or has in another order. */
function lostIn(text: Y.Text, { editor, clocks }: Typist): number {
  const shown: number[] = []
  for (let item = text._start; item !== null; item = item.right)
    if (!item.deleted && item.id.client === editor.clientID)
      for (let offset = 0; offset < item.length; offset += 1) shown.push(item.id.clock + offset)
  let at = 0
  for (const clock of shown) if (clock === clocks[at]) at += 1
  return clocks.length - at
}

/** Returns where a text differs from the expected one; null if it is equal. */
function differenceOf(actual: string, expected: string): string | null {
  if (actual === expected) return null
  let at = 0
  while (actual[at] === expected[at]) at += 1
  const around = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 20), at + 40))
  return `at ${at}, the text has ${around(actual)} instead of ${around(expected)}`
}
