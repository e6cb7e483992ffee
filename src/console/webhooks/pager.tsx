import { Button } from '../ui/controls.tsx'

interface PagerProps {
  readonly page: {
    readonly iterator: string | null
    readonly prevIterator: string | null
    readonly done: boolean
  }
  readonly onPage: (iterator: string | null) => void
}

/** Between pages of what is read by iterators. */
export const Pager = ({ page: { iterator, prevIterator, done }, onPage }: PagerProps) =>
  done && prevIterator === null ? null : (
    <p class="row">
      <Button disabled={prevIterator === null} onClick={() => onPage(prevIterator)}>
        Previous page
      </Button>
      <Button disabled={done} onClick={() => onPage(iterator)}>
        Next page
      </Button>
    </p>
  )
