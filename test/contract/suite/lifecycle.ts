import { expect, it } from 'vitest'
import { StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { bytesOf, docKey, outcomeOf, updates } from './sample-data.ts'
import type { Bench } from './suite.ts'

export function lifeContract(bench: () => Bench): void {
  const doc = docKey('life')

  it('[ENG-40] when all writes are durable, the engine is healthy and has no pending bytes', async () => {
    const { engine } = bench()
    expect(engine.health()).toEqual({ ok: true })
    await engine.log.append(doc, 'create', updates('a'))
    expect(engine.pendingBytes()).toBe(0)
  })

  it('[ENG-41] close waits for accepted writes, even if a head must be read first', async () => {
    const { log, kv, blobs, queue } = bench().engine
    await log.append(docKey('known'), 'create', updates('a'))
    const accepted = [
      log.append(docKey('known'), 1, updates('b')),
      log.append(doc, 'create', updates('a')),
      log.append(doc, 1, updates('b')),
      log.destroy(docKey('known')),
      kv.commit(['p'], {
        checks: [{ key: ['k'], value: null }],
        puts: [{ key: ['k'], value: bytesOf('v') }],
      }),
      blobs.put(['b'], bytesOf('b')),
      queue.claim('queue', 1, 1_000),
    ]
    const closed = bench().engine.close()
    expect(await Promise.all(accepted.map(outcomeOf))).toEqual(accepted.map(() => 'appended'))
    await closed
  })

  it('[ENG-41] close waits for an append even if its caller does not wait for the append', async () => {
    const { log } = bench().engine
    await log.append(doc, 'create', updates('a'))
    const appended = outcomeOf(log.append(doc, 1, updates('b')))
    await bench().engine.close()
    expect(await appended).toBe('appended')
  })

  it('[ENG-42] fails every call after close with StoreUnavailableError, and accepts a second close', async () => {
    const { engine } = bench()
    const { log, kv, blobs, queue } = engine
    await log.append(doc, 'create', updates('a'))
    await engine.close()
    await engine.close()
    const calls = [
      () => log.append(doc, 1, updates('b')),
      () => log.load(doc),
      () => log.heads([doc]),
      () => log.list([], { limit: 1 }),
      () => log.compact(doc, 1, 0, 1, bytesOf('x'), 0),
      () => log.loadAt(doc, 1, 1),
      () => log.destroy(doc),
      () => log.destroyPrefix([]),
      () => kv.get(['p'], [['k']]),
      () => kv.scan(['p'], { limit: 1 }),
      () => kv.commit(['p'], {}),
      () => blobs.put(['b'], bytesOf('x')),
      () => blobs.get(['b']),
      () => blobs.delete(['b']),
      () => blobs.list([], { limit: 1 }),
      () => queue.claim('q', 1, 1_000),
      () => queue.done('token'),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(StoreUnavailableError)
    expect(engine.health().ok).toBe(false)
  })
}
