# A transpose: every wave writes the row of its number and reads the column, a part of every row. There are two tiles, so
# that one barrier in each iteration is enough: the write of the next tile goes to the other one.
kernel @transpose waves=4 {
  shared %tile : 2 x 4096
  loop %t in 0..16 {
    %row = global_read
    write %tile[%t % 2][wave * 1024..wave * 1024 + 1024], %row
    barrier
    %c0 = read %tile[%t % 2][wave * 256..wave * 256 + 256]
    %c1 = read %tile[%t % 2][wave * 256 + 1024..wave * 256 + 1280]
    %c2 = read %tile[%t % 2][wave * 256 + 2048..wave * 256 + 2304]
    %c3 = read %tile[%t % 2][wave * 256 + 3072..wave * 256 + 3328]
    global_write %c0, %c1, %c2, %c3
  }
}
