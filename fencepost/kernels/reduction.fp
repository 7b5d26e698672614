# A reduction: wave 0 clears the accumulators, all waves add to them atomically,
# and wave 0 writes the result out if there is one.
kernel @reduction waves=8 {
  shared %bins : 1024
  if wave == 0 {
    write %bins
  }
  loop %i in 0..? {
    %value = global_read
    atomic %bins, %value
  }
  if %any {
    if wave == 0 {
      %total = read %bins
      global_write %total
    }
  }
}
