export interface TestGate {
  readonly opened: Promise<void>
  readonly open: () => void
}

/** A gate that is closed at first: `opened` resolves after `open`. */
export function gate(): TestGate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
