import type { ComponentType, FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from './controls.tsx'
import { Notice, Reading } from './notice.tsx'

/** Returns a component that loads its code when it is shown for the first time. */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): FunctionComponent<Props> {
  let Loaded: ComponentType<Props> | undefined
  return (props: Props) => {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading')
    useEffect(() => {
      if (Loaded !== undefined) return
      load().then(
        (component) => {
          Loaded = component
          setState('loaded')
        },
        () => setState('failed'),
      )
    }, [])
    if (Loaded !== undefined) return <Loaded {...props} />
    return state === 'failed' ? <Unread /> : <Reading />
  }
}

/**
 * Shows that code could not be loaded. Either the server is not available, or a newer version of the server
 * has other files. The user must then reload the whole console.
 */
const Unread = () => (
  <Notice kind="bad">
    The server did not return this page. The server may have been updated, or may not be running.{' '}
    <Button onClick={() => location.reload()}>Reload</Button>
  </Notice>
)
