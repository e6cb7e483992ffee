import { describe, expect, it } from 'vitest'
import { newDocument, putDocument } from '../../../src/core/directory/documents/document-writes.ts'
import { ChangeJobs, changeWindowMs } from '../../../src/core/events/change-jobs.ts'
import { decodeQueuedEvent, eventQueue } from '../../../src/core/events/outbound-event.ts'
import { addressKey } from '../../../src/core/model/address.ts'
import {
  type AppendOptions,
  CorruptRecordError,
  type Engine,
  StoreUnavailableError,
} from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { address, allOf, appendUpdates, changeOf, eventOf, openFeed, scope, tenant } from './feed-setup.ts'

describe('append', () => {
  it('[FEED-12] adds an event once, also if it is repeated', async () => {
    const opened = await openFeed()
    const { writer } = opened.feed
    const events = [eventOf('document.create'), eventOf('comment.add')]
    await appendUpdates(opened.engine, ['ann'])
    await writer.append(tenant, [...events, changeOf()])
    await writer.append(tenant, [changeOf(), ...events])
    const last = eventOf('permission.add')
    await writer.append(tenant, [events[1] ?? last, last])
    expect((await allOf(opened)).map(({ type }) => type)).toEqual([
      'document.create',
      'comment.add',
      'crdt.update_data',
      'permission.add',
    ])
  })

  it('[FEED-12] a failed commit adds nothing, and its repetition adds each event once and in order', async () => {
    let failing = false
    const opened = await openFeed((engine) => ({
      ...engine,
      kv: {
        ...engine.kv,
        get: (part, keys) => engine.kv.get(part, keys),
        scan: (part, range) => engine.kv.scan(part, range),
        commit: async (part, commit) => {
          const isFeed = part[0] === 'feed'
          // The second failure happens after the commit: the outcome is unknown to the caller.
          if (isFeed && failing) {
            failing = false
            await engine.kv.commit(part, commit)
            throw new StoreUnavailableError('lost')
          }
          return engine.kv.commit(part, commit)
        },
      },
      log: engine.log,
      bus: engine.bus,
      queue: engine.queue,
    }))
    await appendUpdates(opened.engine, ['ann'])
    const events = [eventOf('document.create'), changeOf()]
    failing = true
    await expect(opened.feed.writer.append(tenant, events)).rejects.toThrow('lost')
    await opened.feed.writer.append(tenant, events)
    const found = await allOf(opened)
    expect(found.map(({ type }) => type)).toEqual(['document.create', 'crdt.update_data'])
    expect(new Set(found.map(({ id }) => id)).size).toBe(2)
  })

  it('[FEED-16] changes of a document that exists again come after the deletion of the same batch', async () => {
    const opened = await openFeed()
    await appendUpdates(opened.engine, ['ann'])
    await opened.feed.writer.append(tenant, [changeOf(), eventOf('document.delete')])
    expect((await allOf(opened)).map(({ type }) => type)).toEqual(['document.delete', 'crdt.update_data'])
  })

  it('[FEED-16] the content of a document that is being deleted does not follow the event of the deletion', async () => {
    const opened = await openFeed()
    await appendUpdates(opened.engine, ['ann'])
    await opened.store.change(scope, async (transaction) => {
      putDocument(transaction, {
        ...newDocument({ documentId: 'd', accessType: 'public' }, 0),
        deleting: true,
      })
    })
    await opened.feed.writer.append(tenant, [eventOf('document.delete'), changeOf()])
    expect((await allOf(opened)).map(({ type }) => type)).toEqual(['document.delete'])
  })

  it('[FEED-16] a late event of a deletion is followed by all changes of the document that exists again, once', async () => {
    const opened = await openFeed()
    const { writer } = opened.feed
    const other = { ...address, editorId: 'other' }
    for (const each of [address, other]) await appendUpdates(opened.engine, ['ann'], each)
    await writer.append(tenant, [changeOf(), changeOf(other), eventOf('document.create')])
    await appendUpdates(opened.engine, ['bob'])
    const deletion = eventOf('document.delete')
    await writer.append(tenant, [changeOf(), deletion])
    await writer.append(tenant, [deletion, changeOf(), changeOf(other)])
    await appendUpdates(opened.engine, ['ann'])
    await writer.append(tenant, [changeOf()])
    const found = await allOf(opened)
    expect(found.map(({ type }) => type).slice(0, 4)).toEqual([
      'document.create',
      'crdt.update_data',
      'crdt.update_data',
      'document.delete',
    ])
    const versions = found.slice(4).map(({ data }) => [data.editorId, data.versionBefore, data.version])
    expect(versions).toEqual([
      ['main', null, '1.2'],
      ['other', null, '1.1'],
      ['main', '1.2', '1.3'],
    ])
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
  })

  it('[FEED-10] leaves out events of webhooks, and the change events of webhooks', async () => {
    const opened = await openFeed()
    await appendUpdates(opened.engine, ['ann'])
    await opened.feed.writer.append(tenant, [
      eventOf('webhook.test'),
      eventOf('message.attempt.exhausted'),
      eventOf('crdt.update_data', { data: { editorId: 'main' } }),
    ])
    expect(await allOf(opened)).toEqual([])
  })

  it('[FEED-11] a change has the bytes and the authors of its updates, and the versions form a chain', async () => {
    const opened = await openFeed()
    const { engine, feed } = opened
    await appendUpdates(engine, ['ann', '', 'bob', 'ann'])
    await feed.writer.append(tenant, [changeOf()])
    await feed.writer.append(tenant, [changeOf()])
    await appendUpdates(engine, ['', ''])
    await feed.writer.append(tenant, [changeOf()])
    expect((await allOf(opened)).map(({ actionUser, data }) => [actionUser.userId, data])).toEqual([
      [
        'ann',
        {
          editorId: 'main',
          versionBefore: null,
          version: '1.4',
          bytes: 8,
          authors: [{ userId: 'ann' }, { userId: 'bob' }],
        },
      ],
      ['ann', { editorId: 'main', versionBefore: '1.4', version: '1.6', bytes: 4, authors: [] }],
    ])
  })

  it('[FEED-11] a change whose updates are compacted has no bytes and authors, and keeps the chain', async () => {
    const opened = await openFeed()
    const { engine, feed } = opened
    await appendUpdates(engine, ['ann'])
    await feed.writer.append(tenant, [changeOf()])
    await appendUpdates(engine, ['ann', 'ann'])
    await engine.log.compact(addressKey(address), 1, 0, 3, new Uint8Array([0, 0]), Number.POSITIVE_INFINITY)
    await feed.writer.append(tenant, [changeOf()])
    expect((await allOf(opened)).at(-1)?.data).toMatchObject({
      versionBefore: '1.1',
      version: '1.3',
      bytes: null,
      authors: null,
    })
  })

  it('[FEED-11] the first change after a deletion has no version before it', async () => {
    const opened = await openFeed()
    const { engine, feed } = opened
    await appendUpdates(engine, ['ann'])
    await feed.writer.append(tenant, [changeOf()])
    await engine.log.destroy(addressKey(address))
    await feed.writer.append(tenant, [changeOf()])
    await engine.log.append(addressKey(address), 'recreate', [{ bytes: new Uint8Array([0, 0]), by: '' }])
    await feed.writer.append(tenant, [changeOf()])
    expect((await allOf(opened)).map(({ data }) => [data.versionBefore, data.version])).toEqual([
      [null, '1.1'],
      [null, '2.1'],
    ])
  })

  it('[FEED-14] a damaged log does not stop the feed', async () => {
    const damaged = { ...address, documentId: 'damaged' }
    const opened = await openFeed((engine) => {
      const log: Engine['log'] = Object.create(engine.log, {
        heads: {
          value: (docs: readonly (readonly string[])[]) => {
            if (docs.some((doc) => doc.includes('damaged'))) throw new CorruptRecordError('damaged')
            return engine.log.heads(docs)
          },
        },
        append: { value: engine.log.append.bind(engine.log) },
        load: { value: engine.log.load.bind(engine.log) },
      })
      return Object.create(engine, { log: { value: log } }) as Engine
    })
    await appendUpdates(opened.engine, ['ann'])
    await opened.feed.writer.append(tenant, [changeOf(damaged), changeOf(), eventOf('comment.add')])
    expect((await allOf(opened)).map(({ type, documentId }) => [type, documentId])).toEqual([
      ['comment.add', 'd'],
      ['crdt.update_data', 'd'],
    ])
  })
})

describe('jobs of edits', () => {
  it('[FEED-13] a commit during the run of the job of its editor leaves a new job', async () => {
    const engine = await openMemoryEngine()
    const clock = new HeldClock(0)
    const jobs = new ChangeJobs(
      clock,
      () => true,
      () => {},
    )
    const commit = async (to: number | 'create'): Promise<void> => {
      const options: AppendOptions = { jobs: jobs.noted(address)?.jobs }
      await engine.log.append(
        addressKey(address),
        to,
        [{ bytes: new Uint8Array([0, 0]), by: 'ann' }],
        options,
      )
    }
    await commit('create')
    await commit(1)
    const [first, ...others] = await engine.queue.claim(eventQueue, 10, 10_000)
    expect(others).toEqual([])
    await commit(1)
    expect(await engine.queue.claim(eventQueue, 10, 10_000)).toEqual([])
    expect(await engine.queue.done(first?.token ?? '')).toBe(true)
    const [second] = await engine.queue.claim(eventQueue, 10, 10_000)
    expect(decodeQueuedEvent(second?.payload ?? new Uint8Array())).toMatchObject({
      type: 'crdt.update_data',
      only: 'feed',
      data: { editorId: 'main' },
    })
    expect(await engine.queue.done(second?.token ?? '')).toBe(true)
    expect(await engine.queue.claim(eventQueue, 10, 10_000)).toEqual([])
    await engine.close()
  })

  it('[FEED-1] a feed that is off adds no jobs, and sets no timers', () => {
    const clock = new HeldClock()
    const jobs = new ChangeJobs(
      clock,
      () => false,
      () => {},
    )
    expect(jobs.noted(address)).toBeNull()
    expect(clock.pending).toBe(0)
  })

  it('[FEED-2] each edit is followed by a notice when its job is due', () => {
    const clock = new HeldClock()
    const notices: number[] = []
    const jobs = new ChangeJobs(
      clock,
      () => true,
      () => notices.push(clock.now()),
    )
    const dueAt: number[] = []
    for (let edit = 0; edit < 25; edit++) {
      dueAt.push(jobs.noted(address)?.jobs[0]?.at ?? 0)
      clock.advance(170)
    }
    for (let step = 0; step < 40; step++) clock.advance(100)
    for (const at of dueAt)
      expect(notices.some((notice) => notice >= at && notice <= at + 2 * changeWindowMs)).toBe(true)
    expect(clock.pending).toBe(0)
  })
})
