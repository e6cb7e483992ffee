import { useEffect, useMemo, useState } from 'preact/hooks'
import { Api, type CallError } from '../api.ts'
import { useApi } from '../calls.ts'
import { keepCredentials } from '../credentials.ts'
import { type Point, pointOf, withPoint } from './figures.ts'
import { Scrape } from './prometheus.ts'

/** Between an answer and the next question. */
const pauseMs = 2000

export interface Watched {
  readonly points: readonly Point[]
  /** Why there are no newer figures; null: there are. */
  readonly error: CallError | null
  /** What `/readyz` says against sending requests here; null: nothing. */
  readonly unready: string | null
}

export interface TokenAsked {
  /** Where one is asked for: that which was shown here is not the right one. */
  readonly isRefused: boolean
  readonly onToken: (metricsToken: string) => void
}

/** Reads the metrics again and again while the page is to be seen, also when they could not be had before. */
export function useWatched(): Watched & TokenAsked {
  const given = useApi()
  const [token, setToken] = useState<string | null>(null)
  const api = useMemo(
    () => (token === null ? given : new Api({ ...given.credentials, metricsToken: token })),
    [given, token],
  )
  const [watched, setWatched] = useState<Watched>({ points: [], error: null, unready: null })
  useEffect(() => watch(api, setWatched), [api])
  // A token that is good is kept like the credentials that the page was signed in with.
  const isGood = token !== null && watched.error === null && watched.points.length > 0
  useEffect(() => {
    if (isGood) keepCredentials(api.credentials)
  }, [isGood])
  const onToken = (shown: string): void => {
    setToken(shown)
    setWatched((before) => ({ ...before, error: null }))
  }
  return { ...watched, isRefused: token !== null, onToken }
}

type Change = (change: (before: Watched) => Watched) => void

/** Returns the function that ends it. */
function watch(api: Api, change: Change): () => void {
  let [isOver, isAsking] = [false, false]
  let timer = 0
  let last: Scrape | null = null
  const look = async (): Promise<void> => {
    clearTimeout(timer)
    if (isOver || isAsking || document.hidden) return
    isAsking = true
    const [point, unready] = await Promise.all([read(), readiness()])
    isAsking = false
    if (isOver) return
    change(({ points }) =>
      'at' in point
        ? { points: withPoint(points, point), error: null, unready }
        : { points, error: point, unready },
    )
    timer = setTimeout(() => void look(), pauseMs)
  }
  const read = async (): Promise<Point | CallError> => {
    try {
      const scrape = new Scrape(await api.metrics(), Date.now())
      const point = pointOf(scrape, last)
      last = scrape
      return point
    } catch (error) {
      return error as CallError
    }
  }
  const follow = () => void look()
  document.addEventListener('visibilitychange', follow)
  void look()
  return () => {
    isOver = true
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', follow)
  }
}

async function readiness(): Promise<string | null> {
  try {
    const response = await fetch('/readyz')
    if (response.ok) return null
    const { error } = (await response.json()) as { readonly error?: { readonly message: string } }
    return error?.message ?? 'not ready'
  } catch {
    return 'away'
  }
}
