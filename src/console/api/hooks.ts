import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiCallError, type ApiClient, type ApiPage, toApiCallError } from './client.ts'
import type { ConsoleCredentials } from './credentials.ts'
import { firstNonemptyPage } from './first-nonempty-page.ts'

export const ApiContext = createContext<ApiClient | null>(null)

/** Returns the API client with the credentials of the session. */
export function useApi(): ApiClient {
  const api = useContext(ApiContext)
  if (api === null) throw new Error('the session is not signed in')
  return api
}

/** Context with the function that replaces the credentials of the session. */
export const SignInContext = createContext<(credentials: ConsoleCredentials) => void>(() => {})

export const useSignIn = (): ((credentials: ConsoleCredentials) => void) => useContext(SignInContext)

interface QueryState<Data> {
  /** Data of the latest response; null before the first response. The data remains while it is read again. */
  readonly data: Data | null
  readonly error: ApiCallError | null
  readonly loading: boolean
  readonly reload: () => void
}

/**
 * Reads `path` immediately, and again whenever `path` or `data` changes. Only the response to the latest
 * request is used. If `path` is null, no request is sent.
 */
export function useQuery<Data>(path: string | null, data: object = {}): QueryState<Data> {
  const api = useApi()
  const question = JSON.stringify([path, data])
  return useAsync<Data>(async () => {
    const [asked, given]: [string | null, object] = JSON.parse(question)
    return asked === null ? null : api.call<Data>(asked, given)
  }, question)
}

/**
 * Reads data in the same way as `useQuery`, but with any function that returns a promise.
 * @param question text that identifies the data; when this text changes, the data is read again
 */
export function useAsync<Data>(read: () => Promise<Data | null>, question: string): QueryState<Data> {
  const [state, setState] = useState<{ data: Data | null; error: ApiCallError | null; of: string | null }>({
    data: null,
    error: null,
    of: null,
  })
  const [count, setCount] = useState(0)
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    let isCurrent = true
    const tell = (data: Data | null, error: ApiCallError | null) => {
      if (isCurrent) setState({ data, error, of: question })
    }
    latest.current().then(
      (data) => tell(data, null),
      (error: ApiCallError) => tell(null, error),
    )
    return () => {
      isCurrent = false
    }
  }, [question, count])
  const reload = useCallback(() => setCount((before) => before + 1), [])
  return { data: state.data, error: state.error, loading: state.of !== question, reload }
}

export interface PagedQuery<Item> extends Omit<QueryState<readonly Item[]>, 'data'> {
  readonly items: readonly Item[]
  /** Reads the next page; null if the last page has been read. */
  readonly more: (() => void) | null
}

interface WantedPage {
  readonly of: string
  /** Members of the request that select the page. */
  readonly place: object
  readonly count: number
}

interface PagingOptions<Page, Item> {
  /** Member of the request with the maximum number of items of a page. */
  readonly size?: object
  /** Returns the items of a page; by default, the data of a page is its list of items. */
  readonly itemsOf?: (page: Page) => readonly Item[]
}

/** Reads a listing page by page. Empty pages are skipped. `reload` starts again with the first page. */
export function usePagedQuery<Item, Page = readonly Item[]>(
  path: string,
  data: object,
  { size = { pageSize: 50 }, itemsOf }: PagingOptions<Page, Item> = {},
): PagedQuery<Item> {
  const api = useApi()
  const question = JSON.stringify([path, data, size])
  const [pages, setPages] = useState<{ of: string; items: readonly Item[]; next: object | null }>()
  const [failed, setFailed] = useState<{ of: string; error: ApiCallError } | null>(null)
  const [wanted, setWanted] = useState<WantedPage>({ of: question, place: {}, count: 0 })
  // The place belongs to an earlier query if the query has changed. In this case, reading starts with the
  // first page.
  const place = wanted.of === question ? JSON.stringify(wanted.place) : '{}'
  useEffect(() => {
    let isCurrent = true
    const read = async (selection: object): Promise<ApiPage<readonly Item[]>> => {
      const page = await api.page<Page>(path, { ...data, ...size, ...selection })
      return { ...page, data: itemsOf === undefined ? (page.data as readonly Item[]) : itemsOf(page.data) }
    }
    firstNonemptyPage(read, JSON.parse(place), () => isCurrent).then(
      (answer) => {
        if (!isCurrent) return
        setFailed(null)
        setPages((before) => {
          const kept = place !== '{}' && before?.of === question ? before.items : []
          return { of: question, items: [...kept, ...answer.data], next: answer.next }
        })
      },
      (error: ApiCallError) => isCurrent && setFailed({ of: question, error }),
    )
    return () => {
      isCurrent = false
    }
  }, [question, place, wanted.count])
  const read = (from: object) => setWanted(({ count }) => ({ of: question, place: from, count: count + 1 }))
  const isOfThis = pages?.of === question
  const error = failed?.of === question ? failed.error : null
  const next = isOfThis ? pages.next : null
  return {
    items: isOfThis ? pages.items : [],
    error,
    loading: !isOfThis && error === null,
    more: next === null ? null : () => read(next),
    reload: () => read({}),
  }
}

const followMs = 5_000

interface FollowedQuery<Item> {
  readonly listing: PagedQuery<Item>
  /** Whether the listing is read again every 5 seconds. */
  readonly isFollowed: boolean
  readonly follow: (isFollowed: boolean) => void
}

/** Reads a listing that the user can follow: it is then read again every 5 seconds. */
export function useFollowedQuery<Item>(
  path: string,
  data: object,
  isFollowedAtFirst: boolean,
): FollowedQuery<Item> {
  const listing = usePagedQuery<Item>(path, data)
  const [isFollowed, follow] = useState(isFollowedAtFirst)
  useInterval(isFollowed ? followMs : null, listing.reload)
  const { more } = listing
  const readOn = () => {
    // A repeated read returns only the first page, so it would drop all other pages.
    follow(false)
    more?.()
  }
  return { listing: { ...listing, more: more && readOn }, isFollowed, follow }
}

/**
 * Returns a function `run` that runs an action, and the state of the action. `busy` is true while the action
 * runs. Afterwards, `done` or `error` contains the outcome.
 * @param act action that returns a sentence that describes the result, or nothing
 */
export function useAction<Arguments extends readonly unknown[]>(
  act: (...given: Arguments) => Promise<unknown>,
): {
  readonly busy: boolean
  readonly error: ApiCallError | null
  /** Sentence that describes the result of the action; null if there is none. */
  readonly done: string | null
  readonly run: (...given: Arguments) => Promise<void>
} {
  const [state, setState] = useState<{ busy: boolean; error: ApiCallError | null; done: string | null }>({
    busy: false,
    error: null,
    done: null,
  })
  const run = async (...given: Arguments): Promise<void> => {
    setState({ busy: true, error: null, done: null })
    try {
      const outcome = await act(...given)
      setState({ busy: false, error: null, done: typeof outcome === 'string' ? outcome : null })
    } catch (error) {
      setState({ busy: false, error: toApiCallError(error), done: null })
    }
  }
  return { ...state, run }
}

/** Returns a function that returns whether the component is still on the page. */
export function useIsShown(): () => boolean {
  const isShown = useRef(true)
  useEffect(
    () => () => {
      isShown.current = false
    },
    [],
  )
  return () => isShown.current
}

/** Calls `act` every `ms` milliseconds while the page is visible. @param ms interval; null to pause */
export function useInterval(ms: number | null, act: () => void): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (ms === null) return undefined
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, ms)
    return () => clearInterval(timer)
  }, [ms])
}

/** Response of `/version`. */
interface ServerVersion {
  readonly version: string
  /** URL at which clients reach the server. Pages from the origin of this URL may use every API key. */
  readonly publicUrl: string
}

export const useServerVersion = (): QueryState<ServerVersion> =>
  useAsync<ServerVersion>(async () => (await fetch('/version')).json(), '/version')
