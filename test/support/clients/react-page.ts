import { createElement, type ReactNode, StrictMode } from 'react'
import { WebSocket } from 'ws'
import { Room, WeftProvider, type WeftProviderProps } from '../../../src/client/react/index.ts'
import type { TestServer } from '../servers/server.ts'

/** Number of connections that `CountedSocket` has opened. */
export const sockets = { opened: 0, open: 0 }

class CountedSocket extends WebSocket {
  constructor(url: string) {
    super(url)
    sockets.opened += 1
    sockets.open += 1
    this.on('close', () => {
      sockets.open -= 1
    })
  }
}

/** Properties of a page with one room on `acme/plan/main`. */
export interface PageProps extends Partial<Pick<WeftProviderProps, 'user' | 'getToken' | 'url'>> {
  readonly server: Pick<TestServer, 'url' | 'token'>
  readonly userId?: string
  readonly documentId?: string
  readonly endpoint?: string
}

/** Returns a page in StrictMode. */
export function page(
  { server, userId = 'ada', documentId = 'plan', ...settings }: PageProps,
  children: ReactNode,
): ReactNode {
  const room = createElement(Room, { documentId, fallback: 'loading' }, children)
  const options = {
    url: server.url,
    organizationId: 'acme',
    retryMaxMs: 300,
    WebSocket: CountedSocket as never,
    ...settings,
  }
  const all =
    settings.endpoint === undefined || settings.getToken !== undefined
      ? { getToken: () => server.token(userId), ...options }
      : options
  return createElement(StrictMode, null, createElement(WeftProvider, all as WeftProviderProps, room))
}

/** Gives the tests the class of events of Node, because event targets of Node reject those of the environment `dom`. */
export function useEventsOfNode(): void {
  const controller = new AbortController()
  controller.signal.addEventListener('abort', (event) => {
    globalThis.Event = event.constructor as typeof Event
  })
  controller.abort()
}
