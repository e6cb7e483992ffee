import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { RawClient, typed } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import {
  type Behavior,
  HookReceiver,
  hookCalls,
  organizationId,
} from '../../support/servers/webhook-servers.ts'
import { itLong, times } from '../../support/time/full-run.ts'

const rounds = times(1, 5)
const writers = 4
/** Leases of a killed process end within 10 s, the first retry is after 5 s. */
const patienceMs = 60_000

const options = { WEFT_CALLS_PER_KEY: '0', WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1' }

const callsOf = (server: ServerProcess) =>
  hookCalls(async (path, data) => {
    const { status, data: answer } = await server.post(path, data)
    if (status !== 200) throw new Error(`${path}: ${status}`)
    return answer
  })

/** Creates documents until the server ends. Adds the answered ones to `answered`. */
async function write(server: ServerProcess, name: string, answered: Set<string>): Promise<void> {
  for (let number = 0; ; number++) {
    await callsOf(server).document(`${name}-${number}`)
    answered.add(`${name}-${number}`)
  }
}

/** Types into an editor until the server ends. Returns whether another client received an edit. */
async function type(server: ServerProcess, editorId: string): Promise<boolean> {
  const url = `${server.wsUrl}/sync/${organizationId}/typed/${editorId}?token=${await server.token()}`
  const [writer, reader] = [await RawClient.connect(url), await RawClient.connect(url)]
  for (let number = 1; writer.socket.readyState === writer.socket.OPEN; number++) {
    writer.sendUpdate(typed('x', number))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await reader.closed
  return reader.updates().length > 0
}

/** Fails the first attempt of every third message. */
function flaky(): Behavior {
  const seen = new Set<string>()
  return (response, { headers }) => {
    const id = headers['webhook-id'] as string
    const fails = !seen.has(id) && seen.size % 3 === 0
    seen.add(id)
    response.writeHead(fails ? 503 : 200).end()
  }
}

const told = (receiver: HookReceiver, member: 'documentId' | 'editorId'): ReadonlySet<unknown> =>
  new Set(receiver.bodies.map(({ data }) => (data as Record<string, unknown>)[member]))

async function arrived(receiver: HookReceiver, documents: Set<string>, editors: Set<string>): Promise<void> {
  const deadline = Date.now() + patienceMs
  const missing = () => {
    const [ofDocuments, ofEditors] = [told(receiver, 'documentId'), told(receiver, 'editorId')]
    return [...documents]
      .filter((id) => !ofDocuments.has(id))
      .concat([...editors].filter((id) => !ofEditors.has(id)))
  }
  while (missing().length > 0 && Date.now() < deadline) await new Promise((r) => setTimeout(r, 200))
  expect(missing(), `seed ${seed}`).toEqual([])
}

/** `webhook-id`s of each event, by its subject: each document is created once. */
function idsOf(receiver: HookReceiver): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, Set<string>>()
  for (const [index, { data }] of receiver.bodies.entries()) {
    const { documentId } = data as { documentId?: string }
    if (documentId === undefined) continue
    all.set(documentId, (all.get(documentId) ?? new Set()).add(receiver.ids[index] as string))
  }
  return all
}

itLong(
  `[HOOK-225] delivers every event with one webhook-id, even after ${rounds} SIGKILLs under load (seed ${seed})`,
  async () => {
    const random = new Random(seed)
    const data = await mkdtemp(join(tmpdir(), 'weft-hooks-'))
    const receivers = [await HookReceiver.start(), await HookReceiver.start(flaky())]
    const [documents, editors] = [new Set<string>(), new Set<string>()]
    try {
      let server = await startProcess(data, options)
      await callsOf(server).begin()
      const filterTypes = ['document.create', 'crdt.update_data']
      for (const { url } of receivers) await callsOf(server).endpoint(url, { filterTypes })
      for (let round = 0; round < rounds; round++) {
        // The kill may happen before the first edit.
        const typing = type(server, `e${round}`).catch(() => false)
        const writing = Array.from({ length: writers }, (_, at) => write(server, `${round}-${at}`, documents))
        const ended = Promise.allSettled(writing)
        await new Promise((resolve) => setTimeout(resolve, 300 + random.below(1_200)))
        await server.end('SIGKILL')
        await ended
        if (await typing) editors.add(`e${round}`)
        server = await startProcess(data, options)
      }
      expect(documents.size).toBeGreaterThan(rounds)
      expect(editors.size).toBeGreaterThan(0)
      for (const receiver of receivers) {
        await arrived(receiver, documents, editors)
        expect([...idsOf(receiver).values()].filter((ids) => ids.size > 1)).toEqual([])
      }
      await server.end('SIGTERM')
    } finally {
      for (const receiver of receivers) await receiver.stop()
      await rm(data, { recursive: true, force: true, maxRetries: 20 })
    }
  },
  600_000,
)
