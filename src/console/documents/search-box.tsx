import { useEffect, useState } from 'preact/hooks'
import { TextField } from '../ui/controls.tsx'

/** Time in ms between the last keystroke and the start of the search. */
const pauseMs = 250
const lengthMax = 200

/**
 * Returns the text of a search box, and the member `search` for a request. The member follows the text after
 * a pause in typing.
 */
export function useSearch(): {
  readonly typed: string
  readonly type: (typed: string) => void
  readonly asked: { readonly search?: string }
} {
  const [typed, type] = useState('')
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  const search = settled.trim().slice(0, lengthMax)
  return { typed, type, asked: search === '' ? {} : { search } }
}

interface SearchBoxProps {
  readonly label: string
  readonly typed: string
  readonly onInput: (typed: string) => void
}

export const SearchBox = ({ label, typed, onInput }: SearchBoxProps) => (
  <search>
    <TextField
      label={label}
      type="search"
      value={typed}
      onInput={onInput}
      placeholder="Part of its id or name"
    />
  </search>
)
