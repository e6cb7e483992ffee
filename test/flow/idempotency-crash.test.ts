import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type ServerProcess, startProcess } from '../support/process.ts'
import { Random } from '../support/random-doc.ts'

const rounds = process.env.WEFT_TEST_ALL === '1' ? 20 : 3
const atOnce = 8
const seed = Number(process.env.WEFT_FUZZ_SEED ?? Date.now() % 1_000_000)
const document = { organizationId: 'acme', documentId: 'report' }
const thread = { ...document, annotationId: 'remark' }
const actionUser = { userId: 'ann' }

type Kind = 'comment' | 'title'

/** A call with a key; the key is its text, too, so that what it has left can be counted. */
interface Keyed {
  readonly key: string
  readonly kind: Kind
  answered: boolean
}

const start = (data: string): Promise<ServerProcess> =>
  startProcess(data, { WEFT_RATE_LIMIT_PER_SECOND: '0' })

const send = (server: ServerProcess, { key, kind }: Keyed) => {
  const headers = { 'idempotency-key': key }
  if (kind === 'comment') {
    const data = { ...thread, actionUser, comments: [{ from: actionUser, text: key }] }
    return server.post('/v2/commentannotations/comments/add', data, headers)
  }
  const documents = [{ documentId: key, documentName: `name of ${key}` }]
  return server.post('/v2/organizations/documents/update', { organizationId: 'acme', documents }, headers)
}

/** Makes calls one after the other until the server is gone. */
async function work(server: ServerProcess, name: string, calls: Keyed[]): Promise<void> {
  for (let at = 0; ; at++) {
    const call: Keyed = { key: `${name}-${at}`, kind: at % 2 === 0 ? 'comment' : 'title', answered: false }
    calls.push(call)
    try {
      call.answered = (await send(server, call)).status === 200
    } catch {
      return
    }
  }
}

/** The texts of all comments there are. */
async function comments(server: ServerProcess): Promise<readonly string[]> {
  const { data } = await server.post('/v2/commentannotations/comments/get', thread)
  return [...JSON.stringify(data).matchAll(/"text":"([^"]*)"/g)].map(([, text]) => text as string)
}

async function newThread(server: ServerProcess): Promise<void> {
  await server.post('/v2/commentannotations/delete', { ...document, actionUser, annotationIds: ['remark'] })
  const annotations = [{ annotationId: 'remark' }]
  const flags = { createOrganization: true, createDocument: true }
  await server.post('/v2/commentannotations/add', { ...document, actionUser, annotations, ...flags })
}

it(`[IDEM-8] ${rounds} SIGKILLs while calls with keys are made: each is done once at most, and what is not known is said (seed ${seed})`, async () => {
  const random = new Random(seed)
  const data = await mkdtemp(join(tmpdir(), 'weft-idempotency-'))
  const counts = { replayed: 0, again: 0, unknown: 0 }
  try {
    let server = await start(data)
    for (let round = 0; round < rounds; round++) {
      await newThread(server)
      const calls: Keyed[] = []
      const working = Array.from({ length: atOnce }, (_, at) => work(server, `r${round}-${at}`, calls))
      await new Promise((resolve) => setTimeout(resolve, 100 + random.below(300)))
      await server.end('SIGKILL')
      await Promise.all(working)
      server = await start(data)
      for (const call of calls) {
        const { status, details, replayed } = await send(server, call)
        if (status === 200) counts[replayed ? 'replayed' : 'again'] += 1
        else {
          expect([call.kind, call.answered, status, details], call.key).toEqual([
            'comment',
            false,
            409,
            { outcome: 'unknown' },
          ])
          counts.unknown += 1
          continue
        }
        // What was answered before the kill was noted before it was answered.
        if (call.answered) expect(replayed, call.key).toBe(true)
      }
      const found = await comments(server)
      expect(new Set(found).size, `seed ${seed}`).toBe(found.length)
    }
    console.log(`calls made again after ${rounds} SIGKILLs: ${JSON.stringify(counts)}`)
    await server.end('SIGTERM')
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})
