import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiCallError, type ApiClient, toApiCallError } from './client.ts'
import { firstNonemptyPage } from './first-nonempty-page.ts'

export const ApiContext = createContext<ApiClient | null>(null)

/** Returns the API client with the credentials of the session. */
export function useApi(): ApiClient {
  const api = useContext(ApiContext)
  if (api === null) throw new Error('the session is not signed in')
  return api
}

export interface QueryState<Data> {
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
  /** Token of the page; null: the first page. */
  readonly token: string | null
  readonly count: number
}

/**
 * Reads a listing page by page. Empty pages are skipped. `reload` starts again with the first page.
 * @param itemsOf returns the items of a page; by default, the data of a page is its list of items
 */
export function usePagedQuery<Item>(
  path: string,
  data: object,
  pageSize = 50,
  itemsOf: (page: never) => readonly Item[] = (page) => page,
): PagedQuery<Item> {
  const api = useApi()
  const question = JSON.stringify([path, data, pageSize])
  const [pages, setPages] = useState<{ of: string; items: readonly Item[]; next: string | null }>()
  const [failed, setFailed] = useState<{ of: string; error: ApiCallError } | null>(null)
  const [wanted, setWanted] = useState<WantedPage>({ of: question, token: null, count: 0 })
  // The token belongs to an earlier query if the query has changed. In this case, reading starts with the
  // first page.
  const token = wanted.of === question ? wanted.token : null
  useEffect(() => {
    let isCurrent = true
    const read = async (pageToken: string | null) => {
      const page = await api.page<never>(path, {
        ...data,
        pageSize,
        ...(pageToken !== null && { pageToken }),
      })
      return { ...page, data: itemsOf(page.data) }
    }
    firstNonemptyPage(read, token, () => isCurrent).then(
      (answer) => {
        if (!isCurrent) return
        setFailed(null)
        setPages((before) => {
          const kept = token !== null && before?.of === question ? before.items : []
          return { of: question, items: [...kept, ...answer.data], next: answer.pageToken ?? null }
        })
      },
      (error: ApiCallError) => isCurrent && setFailed({ of: question, error }),
    )
    return () => {
      isCurrent = false
    }
  }, [question, token, wanted.count])
  const read = (from: string | null) =>
    setWanted(({ count }) => ({ of: question, token: from, count: count + 1 }))
  const isOfThis = pages?.of === question
  const error = failed?.of === question ? failed.error : null
  const next = isOfThis ? pages.next : null
  return {
    items: isOfThis ? pages.items : [],
    error,
    loading: !isOfThis && error === null,
    more: next === null ? null : () => read(next),
    reload: () => read(null),
  }
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
