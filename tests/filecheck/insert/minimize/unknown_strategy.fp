# An unknown strategy is an error that names the known ones.
# RUN: fencepost insert %s --strategy best 2>&1
# EXIT: 2
kernel @unknown_strategy waves=4 {
  shared %a : 1024
  write %a
  read %a
}
# CHECK: error[FP111]: unknown strategy 'best'
# CHECK: known strategies: {{.*}}minimize
