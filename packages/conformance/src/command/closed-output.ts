/**
 * Lets the command end as it would have where a reader goes away before the end (`| head`): what is still to be said goes
 * nowhere, and the exit code stays that of the verdict. Output that cannot be written for another reason, such as a full
 * disk behind a redirection, is a sentence and exit code 2: nobody may take half a report for a whole one.
 */
export function endQuietly(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isClosed(error)) return
    process.stderr.write(`The output could not be written: ${error.code ?? error.message}\n`)
    process.exit(2)
  })
  // Nobody is left to be told.
  process.stderr.on('error', () => undefined)
}

function isClosed({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'EOF'
}
