// @vitest-environment dom
import type { ServerResponse } from 'node:http'
import { Component, createElement, type ReactNode } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import {
  decodeAnchor,
  type EndpointError,
  encodeAnchor,
  type RoomComments,
  type RoomState,
  useComments,
  useRoom,
} from '../../../src/client/react/index.ts'
import { eventually } from '../../support/clients/clients.ts'
import { page, sockets, useEventsOfNode } from '../../support/clients/react-page.ts'
import {
  type CommentApplication,
  startCommentApplication,
} from '../../support/servers/comment-application.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

useEventsOfNode()

/** The last values of the hooks of one page, and the number of renderings. */
interface Seen {
  room: RoomState
  comments: RoomComments
  renders: number
}

function Watched({ seen }: { readonly seen: Seen }): ReactNode {
  seen.room = useRoom()
  seen.comments = useComments()
  seen.renders += 1
  return null
}

const scope = { organizationId: 'acme', documentId: 'plan' }
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Milliseconds in which a wrong read would have started. */
const quietMs = 700

describe('comments of a room', () => {
  let server: TestServer
  let application: CommentApplication
  const roots: Root[] = []
  const problems: unknown[][] = []
  for (const name of ['error', 'warn'] as const) {
    const original = console[name]
    console[name] = (...values: unknown[]) => {
      problems.push(values)
      original(...values)
    }
  }

  beforeEach(async () => {
    server = await startTestServer()
    application = await startCommentApplication(server)
    const content = { ...scope, editorId: 'main', type: 'text', data: 'Open from nine to five.' }
    dataOf(await server.post('/v2/crdt/add', content))
  })

  afterEach(async () => {
    for (const root of roots.splice(0)) root.unmount()
    await application.stop()
    await server.stop()
    expect(problems.splice(0)).toEqual([])
  })

  /** Opens a page of a user. @param components number of components that use the comments */
  function mount(
    name: string,
    components = 1,
  ): { seen: Seen; root: Root; show: (components: number) => void } {
    const seen = { renders: 0 } as Seen
    const root = createRoot(document.createElement('div'))
    roots.push(root)
    const show = (count: number): void => {
      const children = Array.from({ length: count }, (_, key) => createElement(Watched, { key, seen }))
      root.render(page({ server, endpoint: application.endpointOf(name) }, children))
    }
    show(components)
    return { seen, root, show }
  }

  /** Opens a page, and waits until it is connected and has read the comments. */
  async function open(name: string): Promise<ReturnType<typeof mount>> {
    const opened = mount(name)
    const { seen } = opened
    await eventually(
      () => seen.room?.synced && !seen.comments.isLoading && seen.comments.error === null,
      () => [seen.room?.status, seen.room?.problem, seen.comments?.error],
    )
    return opened
  }

  const reads = (): number => application.requests.filter((path) => path === 'comments/get').length
  const textsOf = ({ comments }: Seen): string[][] =>
    comments.threads.map((thread) => thread.comments.map(({ text }) => text))
  const codeOf = (failed: Promise<unknown>): Promise<unknown> =>
    failed.then(
      () => 'no error',
      (error: EndpointError) => [error.name, error.code, error.isTemporary],
    )
  const addByRest = (annotations: object[]): Promise<unknown> =>
    server
      .post('/v2/commentannotations/add', { ...scope, actionUser: { userId: 'agent' }, annotations })
      .then(dataOf)
  const threadByRest = (annotationId: string, count = 1): object => ({
    annotationId,
    comments: Array.from({ length: count }, (_, index) => ({ from: { userId: 'agent' }, text: `${index}` })),
  })

  it('[REACT-10] gets tokens from the endpoint, which keeps its query', async () => {
    const { seen } = await open('ada')
    expect([seen.room.role, seen.room.canWrite]).toEqual(['editor', true])
    const { seen: vera } = await open('vera')
    await eventually(() => vera.room.role === 'viewer' && !vera.room.canWrite)
    expect(application.requests.filter((path) => path === 'token')).toHaveLength(2)
    const { seen: unknown } = mount('nobody')
    await eventually(() => unknown.room?.problem?.code === 'token-denied')
  })

  it('[REACT-11] two users comment, reply, change, delete and resolve, and see each other live', async () => {
    const [{ seen: ada }, { seen: grace }] = [await open('ada'), await open('grace')]
    expect([ada.comments.threads, ada.comments.canComment]).toEqual([[], true])
    const { annotationId, commentId } = await ada.comments.add('When do we open?')
    await eventually(() => textsOf(grace).length === 1)
    const thread = { annotationId, status: 'open', anchor: null, commentCount: 1 }
    const comment = { commentId, from: { userId: 'ada', name: 'Ada' }, text: 'When do we open?' }
    expect(grace.comments.threads).toMatchObject([{ ...thread, comments: [comment] }])
    const reply = await grace.comments.reply(annotationId, 'At ten.')
    expect(reply.annotationId).toBe(annotationId)
    await eventually(() => textsOf(ada)[0]?.[1] === 'At ten.')
    await grace.comments.update(annotationId, reply.commentId, 'At nine.')
    await eventually(() => textsOf(ada)[0]?.[1] === 'At nine.')
    // Nobody changes the comments of others.
    const own = ['EndpointError', 'endpoint/not-author', false]
    expect(await codeOf(grace.comments.update(annotationId, commentId, 'x'))).toEqual(own)
    expect(await codeOf(grace.comments.remove(annotationId, commentId))).toEqual(own)
    await grace.comments.resolve(annotationId)
    await eventually(() => ada.comments.threads[0]?.status === 'resolved')
    await ada.comments.resolve(annotationId, 'open')
    await eventually(() => grace.comments.threads[0]?.status === 'open')
    await grace.comments.remove(annotationId, reply.commentId)
    await eventually(() => textsOf(ada).join() === 'When do we open?')
    await ada.comments.remove(annotationId, commentId)
    await eventually(() => [ada, grace].every(({ comments }) => comments.threads.length === 0))
  })

  it('[REACT-12] a viewer reads comments, and gets an error with a code for a change', async () => {
    await addByRest([threadByRest('hours')])
    const { seen } = await open('vera')
    await eventually(() => textsOf(seen).join() === '0')
    expect(seen.comments.canComment).toBe(false)
    const denied = ['EndpointError', 'endpoint/cannot-comment', false]
    expect(await codeOf(seen.comments.add('x'))).toEqual(denied)
    expect(await codeOf(seen.comments.reply('hours', 'x'))).toEqual(denied)
    const { seen: ada } = await open('ada')
    expect(await codeOf(ada.comments.add(''))).toEqual(['EndpointError', 'request/invalid-member', false])
    expect(await codeOf(ada.comments.reply('none', 'x'))).toEqual([
      'EndpointError',
      'comment/annotation-not-found',
      false,
    ])
  })

  it('[REACT-13] reads again after a reconnect, and when the page becomes visible', async () => {
    const { seen } = await open('ada')
    seen.room.provider.disconnect()
    await eventually(() => seen.room.status === 'closed')
    // REST sends no live message to this page.
    await addByRest([threadByRest('one')])
    await pause(quietMs)
    expect(textsOf(seen)).toEqual([])
    seen.room.provider.connect()
    await eventually(() => textsOf(seen).length === 1)
    await addByRest([threadByRest('two')])
    document.dispatchEvent(
      new (document.defaultView as unknown as { Event: typeof Event }).Event('visibilitychange'),
    )
    await eventually(() => textsOf(seen).length === 2)
  })

  it('[REACT-13] a hidden page reads changes only when it is shown', async () => {
    const { seen } = await open('ada')
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' })
    try {
      await addByRest([threadByRest('one')])
      dataOf(await server.post('/v2/livestate/broadcast', { ...scope, event: 'comments.changed' }))
      await pause(quietMs)
      expect(textsOf(seen)).toEqual([])
    } finally {
      Reflect.deleteProperty(document, 'visibilityState')
    }
    document.dispatchEvent(
      new (document.defaultView as unknown as { Event: typeof Event }).Event('visibilitychange'),
    )
    await eventually(() => textsOf(seen).length === 1)
  })

  it('[REACT-13] repeats a read that has failed, and shows the error until then', async () => {
    let isDown = true
    application.before = (path, response) => {
      if (path !== 'comments/get' || !isDown) return false
      response.writeHead(502).end('<html>')
      return true
    }
    const { seen } = mount('ada')
    await eventually(() => seen.comments?.error !== null && seen.comments?.error !== undefined)
    expect(seen.comments).toMatchObject({ isLoading: false, threads: [] })
    expect(seen.comments.error).toMatchObject({ code: 'endpoint/invalid-response', isTemporary: true })
    isDown = false
    await eventually(() => seen.comments.error === null)
  })

  it('[REACT-13] shows no comments to a user who is no longer permitted to read them', async () => {
    await addByRest([threadByRest('one')])
    const { seen } = await open('ada')
    await eventually(() => textsOf(seen).length === 1)
    application.before = (_path, response) => {
      response.writeHead(401).end('sign in')
      return true
    }
    expect(await codeOf(seen.comments.add('x'))).toEqual(['EndpointError', 'endpoint/denied', false])
    seen.comments.loadComments('one')
    await eventually(() => seen.comments.error?.code === 'endpoint/denied')
    expect([seen.comments.threads, seen.comments.canComment]).toEqual([[], false])
    const before = reads()
    await pause(2 * quietMs)
    expect(reads()).toBe(before)
  })

  it('[REACT-14] reads once for all components under StrictMode, and joins changes into one read', async () => {
    const { seen } = mount('ada', 5)
    await eventually(() => seen.room?.synced && !seen.comments.isLoading)
    await pause(quietMs)
    expect(reads()).toBe(1)
    const { renders } = seen
    for (let count = 0; count < 10; count++)
      dataOf(await server.post('/v2/livestate/broadcast', { ...scope, event: 'comments.changed' }))
    dataOf(await server.post('/v2/livestate/broadcast', { ...scope, event: 'other' }))
    await pause(quietMs)
    expect(reads()).toBeGreaterThan(1)
    expect(reads()).toBeLessThan(8)
    // Nothing has changed.
    expect(seen.renders).toBe(renders)
  })

  it('[REACT-14] reads only while a component uses it, and ends a read with its last component', async () => {
    const { seen, show, root } = mount('ada', 1)
    await eventually(() => seen.room?.synced && !seen.comments.isLoading)
    show(0)
    await pause(100)
    const { renders } = seen
    const before = reads()
    const { annotationId } = await seen.comments.add('After the end')
    await pause(quietMs)
    expect([reads(), seen.renders]).toEqual([before, renders])
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    application.before = () => held.then(() => false)
    show(1)
    await eventually(() => reads() === before + 1)
    root.unmount()
    await eventually(() => application.aborted > 0)
    release()
    await eventually(() => sockets.open === 0)
    await pause(quietMs)
    expect(reads()).toBe(before + 1)
    expect(seen.comments.threads.filter((thread) => thread.annotationId === annotationId)).toEqual([])
  })

  it('[REACT-15] never shows an older response after a newer one', async () => {
    const { seen } = await open('ada')
    let running = 0
    let overlaps = 0
    let held: (() => void) | null = null
    application.before = async (path) => {
      if (path !== 'comments/get') return false
      running += 1
      overlaps = Math.max(overlaps, running)
      // Only the first one waits.
      if (held === null) await new Promise<void>((resolve) => (held = resolve))
      running -= 1
      return false
    }
    const { annotationId, commentId } = await seen.comments.add('one')
    await eventually(() => held !== null)
    await seen.comments.update(annotationId, commentId, 'two')
    await seen.comments.update(annotationId, commentId, 'three')
    ;(held as unknown as () => void)()
    await eventually(() => textsOf(seen).join() === 'three')
    await pause(quietMs)
    expect([textsOf(seen), overlaps]).toEqual([[['three']], 1])
  })

  it('[REACT-16] reads further threads, and all comments of a thread, on request', async () => {
    const ids = Array.from({ length: 103 }, (_, index) => `thread-${index}`)
    for (let start = 0; start < ids.length; start += 50)
      await addByRest(ids.slice(start, start + 50).map((id) => threadByRest(id)))
    await addByRest([threadByRest('long', 60)])
    const { seen } = await open('ada')
    await eventually(() => seen.comments.threads.length === 100)
    expect(seen.comments.hasMore).toBe(true)
    const idsSeen = () => seen.comments.threads.map(({ annotationId }) => annotationId)
    expect(idsSeen()).toContain('long')
    // A new thread is visible although there are older pages.
    const { annotationId } = await seen.comments.add('newest')
    await eventually(() => idsSeen().at(-1) === annotationId)
    seen.comments.loadMore()
    await eventually(() => seen.comments.threads.length === 105)
    expect(seen.comments.hasMore).toBe(false)
    expect(idsSeen().at(-1)).toBe(annotationId)
    const long = () => seen.comments.threads.find(({ annotationId }) => annotationId === 'long')
    expect([long()?.commentCount, long()?.comments.length]).toEqual([60, 50])
    seen.comments.loadComments('long')
    await eventually(() => long()?.comments.length === 60)
    // Later reads keep the number of pages.
    await seen.comments.reply('long', 'last')
    await eventually(() => long()?.comments.at(-1)?.text === 'last')
    expect(seen.comments.threads).toHaveLength(105)
    expect(new Set(seen.comments.threads.map(({ annotationId }) => annotationId)).size).toBe(105)
  })

  it('[REACT-19] shows the other threads if a thread is deleted between the reads of its page and of its comments', async () => {
    await addByRest([threadByRest('long', 60), threadByRest('other')])
    const { seen } = await open('ada')
    const idsSeen = () => seen.comments.threads.map(({ annotationId }) => annotationId)
    await eventually(() => idsSeen().length === 2)
    let deletions = 0
    application.before = async (path) => {
      if (path !== 'comments/thread') return false
      deletions += 1
      const request = { ...scope, actionUser: { userId: 'agent' }, annotationIds: ['long'] }
      dataOf(await server.post('/v2/commentannotations/delete', request))
      return false
    }
    const errors: unknown[] = []
    const watch = setInterval(() => seen.comments.error !== null && errors.push(seen.comments.error), 1)
    seen.comments.loadComments('long')
    await eventually(() => idsSeen().join() === 'other')
    await pause(quietMs)
    clearInterval(watch)
    expect([deletions, errors, idsSeen()]).toEqual([1, [], ['other']])
  })

  /** Lets the endpoint answer a request, and ends the connection instead of sending the response. */
  const loseResponse = (response: ServerResponse): void => {
    response.end = () => response.destroy()
  }

  it('[REACT-20] sends a change again whose response was lost, and it is stored once', async () => {
    const { seen } = await open('ada')
    const lost = new Map<string, number>()
    application.before = (path, response) => {
      const count = lost.get(path) ?? 0
      if (!/add|reply|update|delete|resolve/.test(path) || count >= 2) return false
      lost.set(path, count + 1)
      loseResponse(response)
      return false
    }
    const { annotationId, commentId } = await seen.comments.add('one')
    const reply = await seen.comments.reply(annotationId, 'two')
    await eventually(() => textsOf(seen).join() === 'one,two')
    expect(seen.comments.threads[0]?.comments.map((comment) => comment.commentId)).toEqual([
      commentId,
      reply.commentId,
    ])
    await seen.comments.update(annotationId, commentId, 'ONE')
    await seen.comments.resolve(annotationId)
    await seen.comments.remove(annotationId, reply.commentId)
    await eventually(() => textsOf(seen).join() === 'ONE')
    await pause(quietMs)
    expect(seen.comments.threads).toMatchObject([{ annotationId, status: 'resolved', commentCount: 1 }])
    expect([...lost.values()]).toEqual([2, 2, 2, 2, 2])
  })

  it('[REACT-20] stores a comment once that the user sends again after an error, and twice after a success', async () => {
    const { seen } = await open('ada')
    let isDown = true
    application.before = (path, response) => {
      if (path === 'comments/add' && isDown) loseResponse(response)
      return false
    }
    expect(await codeOf(seen.comments.add('again'))).toEqual(['EndpointError', 'endpoint/unreachable', true])
    isDown = false
    const first = await seen.comments.add('again')
    await eventually(() => textsOf(seen).join() === 'again')
    const second = await seen.comments.add('again')
    expect(second.annotationId).not.toBe(first.annotationId)
    await eventually(() => textsOf(seen).join() === 'again,again')
    expect(application.requests.filter((path) => path === 'comments/add')).toHaveLength(6)
  })

  it('[REACT-20] does not send a replaced value again after a newer one', async () => {
    const { seen } = await open('ada')
    const { annotationId, commentId } = await seen.comments.add('one')
    let [attempts, isBroken] = [0, true]
    application.before = (path, response) => {
      if (path !== 'comments/update' || !isBroken) return false
      attempts += 1
      response.destroy()
      return true
    }
    const older = codeOf(seen.comments.update(annotationId, commentId, 'older'))
    await eventually(() => attempts > 0)
    // The older change must not arrive first, even if the test is slow.
    isBroken = false
    await seen.comments.update(annotationId, commentId, 'newer')
    expect(await older).toEqual(['EndpointError', 'endpoint/unreachable', true])
    await eventually(() => textsOf(seen).join() === 'newer')
  })

  it('[REACT-17] throws an error that names the property if there is no endpoint', async () => {
    let caught: unknown
    class Boundary extends Component<{ readonly children: ReactNode }> {
      static getDerivedStateFromError(error: unknown): object {
        caught = error
        return { hasFailed: true }
      }
      override readonly state: { readonly hasFailed?: boolean } = {}
      override render(): ReactNode {
        return this.state.hasFailed === true ? null : this.props.children
      }
    }
    const root = createRoot(document.createElement('div'), { onCaughtError: () => {} })
    roots.push(root)
    const watched = createElement(Watched, { seen: { renders: 0 } as Seen })
    root.render(page({ server }, createElement(Boundary, null, watched)))
    await eventually(() => caught !== undefined)
    expect(String(caught)).toBe('Error: useComments needs the property endpoint of <WeftProvider>')
  })

  it('[REACT-18] anchors a thread at a range, which follows the text', async () => {
    const { seen } = await open('ada')
    const text = seen.room.doc.getText('content')
    const at = (index: number, side = 0): Y.RelativePosition =>
      Y.createRelativePositionFromTypeIndex(text, index, side)
    const anchor = encodeAnchor(at(10), at(14, -1), 'content')
    await seen.comments.add('Ten?', anchor)
    await eventually(() => seen.comments.threads[0]?.quote === 'nine')
    text.insert(0, 'We are here. ')
    const { start, end } = decodeAnchor(seen.comments.threads[0]?.anchor ?? { position: '' })
    const indexOf = (position: Y.RelativePosition | null): number | undefined =>
      position === null
        ? undefined
        : Y.createAbsolutePositionFromRelativePosition(position, seen.room.doc)?.index
    expect(text.toString().slice(indexOf(start), indexOf(end))).toBe('nine')
    const { end: none } = decodeAnchor(encodeAnchor(at(3)))
    expect(none).toBeNull()
  })
})
