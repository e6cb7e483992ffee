const checkMs = 500

/**
 * Sends this process SIGTERM when its parent has ended. `npm` runs a script in a shell, and some shells end on a signal
 * without passing it on.
 */
export function endWithParent(): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, checkMs)
  timer.unref()
}
