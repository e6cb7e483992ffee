import { WebSocket } from 'ws'
import type { ProviderOptions } from '../../../src/client/provider/index.ts'
import { DocumentProvider } from '../../../src/client/provider/index.ts'
import { eventually } from './clients.ts'

type Given = Partial<Omit<ProviderOptions, 'getToken' | 'tokenUrl'>> &
  Pick<ProviderOptions, 'url'> & { readonly getToken?: () => Promise<string> | string }

/** Opens a provider on `acme/plan/main`, with the websockets of `ws`. Retries soon. */
export const openProvider = ({ getToken = () => '', ...options }: Given): DocumentProvider =>
  new DocumentProvider({
    organizationId: 'acme',
    documentId: 'plan',
    WebSocket: WebSocket as never,
    retryMaxMs: 300,
    ...options,
    getToken,
  })

/** Waits until a provider is in sync, and all its changes are durable. */
export const settled = (provider: DocumentProvider): Promise<void> =>
  eventually(
    () => provider.status === 'connected' && provider.synced && provider.saved,
    () => [provider.status, provider.problem, provider.synced, provider.saved],
  )

/** The text that the tests write. */
export const textOf = ({ doc }: DocumentProvider) => doc.getText('content')

/** Records what listeners of an event get. */
export function recorded(
  provider: DocumentProvider,
  name: 'status' | 'saved' | 'synced' | 'role' | 'users' | 'message',
): unknown[][] {
  const calls: unknown[][] = []
  provider.on(name, (...values: unknown[]) => void calls.push(values))
  return calls
}
