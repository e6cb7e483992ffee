import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react'
import type { BrowserStorage, UserFields } from '../provider/index.ts'

/** Address of one editor of a document. */
export interface RoomAddress {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

/** Settings of all rooms below a `WeftProvider`. */
export interface WeftSettings {
  /** Address of Weft: a URL, or a path of the server of the page. Default: `/`. */
  readonly url?: string | undefined
  readonly organizationId: string
  /** Name, color and other fields that the other users see. The values must be JSON. */
  readonly user?: UserFields | undefined
  /** Class of the offline store: `IndexeddbPersistence` of y-indexeddb. Default: nothing is stored. */
  readonly offline?: BrowserStorage | undefined
  /** Id of the user who owns the offline copies. Necessary if several users share a browser. */
  readonly offlineOwner?: string | undefined
  /** Maximum milliseconds between two attempts to connect. Default: 15,000. */
  readonly retryMaxMs?: number | undefined
  /** Class of websockets. Default: the one of the platform. With null, rooms use HTTP only. */
  readonly WebSocket?: typeof WebSocket | null | undefined
}

/** Source of the realtime tokens. */
export type RoomTokenSource =
  | {
      /** URL of the endpoint of the application, which `createEndpoint` of `weft-server/client` makes. Its query is kept. */
      readonly endpoint: string
      readonly getToken?: undefined
    }
  | {
      /** Necessary for comments only. */
      readonly endpoint?: string | undefined
      /**
       * Returns a realtime token for the user. Throws a `TokenDeniedError` of `weft-server/provider` if there is none
       * for this user. The signal is aborted after 20 s, and when the room closes.
       */
      readonly getToken: (address: RoomAddress, signal: AbortSignal) => Promise<string> | string
    }

/** Properties of `WeftProvider`. One of `endpoint` and `getToken` is necessary. */
export type WeftProviderProps = WeftSettings & RoomTokenSource & { readonly children?: ReactNode }

const SettingsContext = createContext<WeftProviderProps | null>(null)

/**
 * Gives all rooms below it the address of Weft and the source of the tokens. It renders its children at once, and does
 * not connect. A room opens again if its address, `endpoint` or `offlineOwner` changes. `user` and `getToken` take
 * effect without that. Other settings have effect for rooms that open later.
 */
export const WeftProvider = (props: WeftProviderProps): ReactElement =>
  createElement(SettingsContext.Provider, { value: props }, props.children)

/** Returns the settings. @throws Error if the component is not below a `WeftProvider` */
export function useSettings(): WeftProviderProps {
  const settings = useContext(SettingsContext)
  if (settings === null) throw new Error('there is no <WeftProvider> above this <Room>')
  return settings
}
