import { useEffect, useState } from 'preact/hooks'

/**
 * The current place in the console. It consists of the decoded parts of an address such as
 * `#/documents/acme/notes`.
 */
export type Route = readonly string[]

/** Returns the address of a place in the console. Each part is percent-encoded. */
export const href = (...parts: readonly string[]): string => `#/${parts.map(encodeURIComponent).join('/')}`

export const navigate = (...parts: readonly string[]): void => {
  location.hash = href(...parts)
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const present = (): Route =>
  location.hash
    .replace(/^#?\/?/, '')
    .split('/')
    .filter(Boolean)
    .map(decoded)

export function useRoute(): Route {
  const [route, setRoute] = useState(present)
  useEffect(() => {
    const follow = () => setRoute(present())
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return route
}

/** Properties of a page. `rest` contains the parts of the address after the name of the page. */
export interface PageProps {
  readonly rest: Route
}
