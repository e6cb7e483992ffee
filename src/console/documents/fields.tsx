import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useSessionValue } from '../api/session-values.ts'
import { Select, TextField } from '../ui/controls.tsx'

/** Returns the name of the selected root, and the field that selects it. Without roots, the name is undefined. */
export function useRoot(roots: readonly string[]): readonly [string | undefined, VNode | null] {
  const [root, setRoot] = useSessionValue('root', roots)
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

/** Time in ms between the last keystroke and the start of the search. */
const pauseMs = 250
const lengthMax = 200

/**
 * Returns the member `search` for a request, and the field in which the user enters it. The member follows the
 * text after a pause in typing.
 */
export function useSearch(label: string): readonly [{ readonly search?: string }, VNode] {
  const [typed, type] = useState('')
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  const search = settled.trim().slice(0, lengthMax)
  const field = (
    <search>
      <TextField
        label={label}
        type="search"
        value={typed}
        onInput={type}
        placeholder="Part of its id or name"
      />
    </search>
  )
  return [search === '' ? {} : { search }, field]
}
