import { useEffect, useRef } from 'preact/hooks'

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
