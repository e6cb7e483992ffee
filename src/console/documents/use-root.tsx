import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Select } from '../ui/controls.tsx'

/** Returns the name of the selected root, and the field that selects it. Without roots, the name is undefined. */
export function useRoot(roots: readonly string[]): readonly [string | undefined, VNode | null] {
  const [root, setRoot] = useState(roots[0])
  const field = (
    <Select
      label="Root"
      value={root ?? ''}
      options={roots.map((name) => [name, name] as const)}
      onChange={setRoot}
    />
  )
  return [root, roots.length > 1 ? field : null]
}
